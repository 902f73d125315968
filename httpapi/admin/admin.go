// Package admin serves the operator's commands over a socket on the machine itself that only the operator can open: the node's state,
// conflicts, backup, check, and the applications' commands. Client is its client.
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

// Maintenance is what the socket needs from the node.
type Maintenance interface {
	// Backup copies the store to a new file; for an empty path the node chooses one. While another backup, check or migration runs it
	// returns fault.Conflict.
	Backup(ctx context.Context, path string, progress func(done, total int64)) (store.BackupInfo, error)
	// Check verifies the store without blocking writers.
	Check(ctx context.Context, progress func(where string)) ([]store.Problem, error)
}

// Command is an application's command.
type Command struct {
	Path string // "/counter/reset"; begins with the application's name
	// Do handles a request, a JSON object or nothing, and returns a result that is written as JSON. The request may contain secrets, so
	// it is not logged.
	Do func(ctx context.Context, ask json.RawMessage, progress func(Progress)) (any, error)
}

const (
	maxConnections = 16
	maxBody        = 64 << 10
	tick           = 200 * time.Millisecond // shortest interval between progress lines
	lineWithin     = 10 * time.Second       // to write a line
)

// Config configures the socket.
type Config struct {
	Node     Maintenance
	Commands []Command
	Drain    time.Duration // time for requests to finish at shutdown; 10 s when zero
	Logger   *slog.Logger
}

// socket implements the routes. Whoever can connect may do everything: the socket's file mode is the access control.
type socket struct {
	node Maintenance
}

// Run serves the admin routes on ln, a socket that only the operator can open, until ctx ends. Running requests are cancelled with it.
func Run(ctx context.Context, ln net.Listener, s *httpapi.Server, c Config) error {
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	srv := httpapi.NewHTTPServer(s.OperatorHandler(routes(&c)), c.Logger)
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	return serve.RunServer(ctx, srv, netutil.LimitListener(ln, maxConnections), c.Drain, nil)
}

// routes returns the routes beyond the node's state.
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

// postBackup takes {"path": "/absolute/path"}; without a path the node chooses one. It answers with lines of JSON, see line.
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

// CheckResult is what a check found: violated invariants of the store.
type CheckResult struct {
	Problems []store.Problem `json:"problems"`
}

// NewCheckResult returns a result with a non-nil list.
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

// readBody decodes a small JSON object; a missing body is an empty one.
func readBody(c *gin.Context, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil && d.More() {
		err = errors.New("there is data after the object")
	}
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "validation", "the body is not the expected JSON object: %v", err)
	}
	return nil
}

// Progress is how far an operation has come. Without a Total only What is known.
type Progress struct {
	What  string `json:"what"`
	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
}

// line is one line of a long-running answer: progress lines, then one with the result or an error. Errors before the first line are
// answered with a status, as usual.
type line struct {
	Progress *Progress        `json:"progress,omitempty"`
	Result   any              `json:"result,omitempty"`
	Error    *httpapi.Problem `json:"error,omitempty"`
}

// lines writes such an answer.
type lines struct {
	c    *gin.Context
	ctl  *http.ResponseController
	wall clock.Clock
	told time.Time
	what string
}

// newLines starts an answer. It removes the read deadline, which would end the request.
func newLines(c *gin.Context) *lines {
	out := &lines{c: c, ctl: http.NewResponseController(c.Writer), wall: clock.Real()}
	_ = out.ctl.SetReadDeadline(time.Time{}) // a writer without deadlines needs no change
	return out
}

// progress writes a line at most every tick. If the client has left, the request's context ends.
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
	_ = o.ctl.SetWriteDeadline(o.wall.Wall().Add(lineWithin))
	o.c.Header("Content-Type", "application/jsonl")
	o.c.Header("Cache-Control", "no-store")
	if _, err := o.c.Writer.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	return o.ctl.Flush()
}
