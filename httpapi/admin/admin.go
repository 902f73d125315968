// Package admin serves what an operator does on the machine itself: the node's state, conflicts, backup, check, and the commands
// of applications, over a socket that only the operator can open; Client asks it.
package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/netutil"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/serve"
	"github.com/touchline/touchline/store"
)

// Maintenance is what the socket needs of the node.
type Maintenance interface {
	// Backup copies the store to a new file; an empty path is the node's own choice. A second one at a time is
	// fault.Conflict.
	Backup(ctx context.Context, path string, progress func(done, total int64)) (store.BackupInfo, error)
	// Check looks at everything in the store, beside its writers.
	Check(ctx context.Context, progress func(where string)) ([]store.Problem, error)
}

// Command is what an application's operator does by the socket.
type Command struct {
	Path string // "/counter/reset", which begins with the name of the application
	// Do reads what is asked, a JSON object or nothing, and returns what came of it, which is written as JSON. What is asked may
	// hold a secret: it goes into no log.
	Do func(ctx context.Context, ask json.RawMessage, progress func(Progress)) (any, error)
}

const (
	maxConnections = 16
	maxBody        = 64 << 10
	tick           = 200 * time.Millisecond // between two lines of progress
	lineWithin     = 10 * time.Second       // for a line to leave
)

// Config is what the socket answers with.
type Config struct {
	Node     Maintenance
	Commands []Command
	Drain    time.Duration // for requests to end at shutdown; 10 s when zero
	Logger   *slog.Logger
}

// socket answers on the admin socket. Whoever can connect may do everything: the socket's mode is the sign-in.
type socket struct {
	node Maintenance
}

// Run serves the admin routes of a node on ln, a socket that only the operator can open, until ctx ends, and what runs there
// with it.
func Run(ctx context.Context, ln net.Listener, s *httpapi.Server, c Config) error {
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	srv := httpapi.NewHTTPServer(s.OperatorHandler(routes(&c)), c.Logger)
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	return serve.Until(ctx, srv, netutil.LimitListener(ln, maxConnections), c.Drain, nil)
}

// routes is the table of what the socket can do beside telling of the node.
func routes(c *Config) []httpapi.Route {
	a := &socket{node: c.Node}
	all := []httpapi.Route{
		{Method: http.MethodPost, Path: "/backup", Do: a.postBackup},
		{Method: http.MethodPost, Path: "/check", Do: a.postCheck},
	}
	for _, cmd := range c.Commands {
		all = append(all, httpapi.Route{Method: http.MethodPost, Path: cmd.Path, Do: func(c *gin.Context) error {
			var ask json.RawMessage
			if err := readBody(c, &ask); err != nil {
				return err
			}
			out := newLines(c)
			result, err := cmd.Do(c.Request.Context(), ask, out.progress)
			return out.end(result, err)
		}})
	}
	return all
}

// postBackup reads {"path": "/absolute/path"}; without a path the node chooses. It answers lines of JSON, see line.
func (a *socket) postBackup(c *gin.Context) error {
	var ask struct {
		Path string `json:"path"`
	}
	if err := readBody(c, &ask); err != nil {
		return err
	}
	if ask.Path != "" && !filepath.IsAbs(ask.Path) {
		return fault.New(fault.Invalid, "validation", "path must be absolute: the node runs in another directory")
	}
	out := newLines(c)
	info, err := a.node.Backup(c.Request.Context(), ask.Path, func(done, total int64) {
		out.progress(Progress{What: "copy", Done: done, Total: total})
	})
	return out.end(info, err)
}

// CheckResult is what a check found: promises that the store does not keep.
type CheckResult struct {
	Problems []store.Problem `json:"problems"`
}

// NewCheckResult makes one of what the store found, with a list where there is nothing.
func NewCheckResult(problems []store.Problem) CheckResult {
	return CheckResult{Problems: append([]store.Problem{}, problems...)}
}

func (a *socket) postCheck(c *gin.Context) error {
	if err := readBody(c, &struct{}{}); err != nil {
		return err
	}
	out := newLines(c)
	problems, err := a.node.Check(c.Request.Context(), func(where string) { out.progress(Progress{What: where}) })
	return out.end(NewCheckResult(problems), err)
}

// readBody reads a small JSON object; no body is an empty one.
func readBody(c *gin.Context, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil && d.More() {
		err = errors.New("there is more after the object")
	}
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "validation", "the body is not the expected JSON object: %v", err)
	}
	return nil
}

// Progress is how far something has come. Without a Total it tells only what is being done.
type Progress struct {
	What  string `json:"what"`
	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
}

// line is a line of an answer that takes a while: some with progress, and a last one with the result or the error.
// What fails before the first line is answered with a status, as everywhere.
type line struct {
	Progress *Progress        `json:"progress,omitempty"`
	Result   any              `json:"result,omitempty"`
	Error    *httpapi.Problem `json:"error,omitempty"`
}

// lines is such an answer.
type lines struct {
	c    *gin.Context
	ctl  *http.ResponseController
	wall clock.Clock
	told time.Time
	what string
}

// newLines begins an answer of lines. The time-out for reading the request would end it: nothing more is read.
func newLines(c *gin.Context) *lines {
	out := &lines{c: c, ctl: http.NewResponseController(c.Writer), wall: clock.Real()}
	_ = out.ctl.SetReadDeadline(time.Time{}) // a writer without deadlines has none to end it
	return out
}

// progress writes a line now and then. That nobody reads it shows in the request's context.
func (o *lines) progress(p Progress) {
	now := o.wall.Now()
	if p.What == o.what && now.Sub(o.told) < tick {
		return
	}
	o.told, o.what = now, p.What
	_ = o.send(line{Progress: &p})
}

// end writes the last line.
func (o *lines) end(result any, err error) error {
	switch {
	case err == nil:
		return o.send(line{Result: result})
	case o.told.IsZero():
		return err
	}
	p := httpapi.ProblemOf(o.c, httpapi.OperatorFailure(err))
	_ = o.send(line{Error: &p})
	return err
}

func (o *lines) send(l line) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_ = o.ctl.SetWriteDeadline(o.wall.Now().Add(lineWithin))
	o.c.Header("Content-Type", "application/jsonl")
	o.c.Header("Cache-Control", "no-store")
	if _, err := o.c.Writer.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	return o.ctl.Flush()
}
