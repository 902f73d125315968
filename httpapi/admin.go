package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/netutil"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Maintenance is what the admin socket needs of the node.
type Maintenance interface {
	// Backup copies the store to a new file; an empty path is the node's own choice. A second one at a time is
	// fault.Conflict.
	Backup(ctx context.Context, path string, progress func(done, total int64)) (store.BackupInfo, error)
	// Check looks at everything in the store, beside its writers.
	Check(ctx context.Context, progress func(where string)) ([]store.Problem, error)
	// MigrateLAv2 carries the old tables over; what it did, or would do, is a JSON object.
	MigrateLAv2(ctx context.Context, ask MigrateAsk, progress func(AdminProgress)) (any, error)
	// PushTest sends one push with the node's own provider token. What is asked and what came of it are JSON objects of
	// the node's and the command line's; the first holds the key: it goes into no log.
	PushTest(ctx context.Context, ask json.RawMessage) (any, error)
}

// MigrateAsk asks for a migration.
type MigrateAsk struct {
	Apply   bool `json:"apply"`
	DropOld bool `json:"dropOld"`
}

const (
	maxAdminConnections = 16
	maxAdminBody        = 64 << 10
	adminTick           = 200 * time.Millisecond // between two lines of progress
)

// adminSocket answers on the admin socket. Whoever can connect may do everything: the socket's mode is the sign-in.
type adminSocket struct {
	s    *Server
	node Maintenance
}

// RunAdmin serves the admin routes on ln, a socket that only the operator can open, until ctx ends, and what runs there
// with it.
func (s *Server) RunAdmin(ctx context.Context, ln net.Listener, node Maintenance) error {
	srv := &http.Server{
		Handler: s.adminRoutes(node), ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	serving, served := context.WithCancelCause(ctx)
	var loop sync.WaitGroup
	defer loop.Wait()
	loop.Go(func() { served(srv.Serve(netutil.LimitListener(ln, maxAdminConnections))) })
	<-serving.Done()
	if ctx.Err() == nil { // it ended by itself: the listener broke
		return fmt.Errorf("admin socket: %w", context.Cause(serving))
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Drain)
	defer cancel()
	if srv.Shutdown(within) != nil { // what runs there does not hear that its context has ended
		return srv.Close()
	}
	return nil
}

// adminRoutes is the table of what the socket can do.
func (s *Server) adminRoutes(node Maintenance) http.Handler {
	a := &adminSocket{s: s, node: node}
	gin.SetMode(gin.ReleaseMode) // else every route is printed
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.ContextWithFallback = true
	_ = e.SetTrustedProxies(nil) // nil cannot fail
	e.Use(identify, s.observe, s.rescue, guard)
	e.NoRoute(s.noRoute)
	e.NoMethod(s.noMethod)
	for _, r := range []struct {
		method, path string
		h            handler
	}{
		{http.MethodGet, "/status", s.getStatus},
		{http.MethodGet, "/sync", s.getSync},
		{http.MethodGet, "/conflicts", s.getConflicts},
		{http.MethodGet, "/conflicts/:id", s.getConflict},
		{http.MethodPost, "/conflicts/:id/retry", s.postConflictRetry},
		{http.MethodPost, "/conflicts/:id/discard", s.postConflictDiscard},
		{http.MethodPost, "/backup", a.postBackup},
		{http.MethodPost, "/check", a.postCheck},
		{http.MethodPost, "/migrate/la-v2", a.postMigrateLAv2},
		{http.MethodPost, "/push/test", a.postPushTest},
	} {
		e.Handle(r.method, r.path, a.wrap(r.h))
	}
	return e
}

// wrap makes a gin handler of ours. Errors show their text, whatever their kind: the caller is the operator.
func (a *adminSocket) wrap(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			_ = c.Error(err)
			c.Abort()
			if !c.Writer.Written() {
				a.s.failProblem(c, adminFailure(err))
			}
		}
	}
}

func adminFailure(err error) failure {
	f := failureOf(err)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		f.code, f.message = e.Code, e.Message
	}
	return f
}

// BackupResult is a backup as the socket and the command line tell of it.
type BackupResult struct {
	Path        string  `json:"path"`
	Bytes       int64   `json:"bytes"`
	SHA256      string  `json:"sha256"`
	Node        string  `json:"node"`
	Incarnation uint64  `json:"incarnation"`
	Seq         uint64  `json:"seq"` // the last journal record in it
	Tables      int     `json:"tables"`
	TookSeconds float64 `json:"tookSeconds"`
	HeldSeconds float64 `json:"heldSeconds"` // how long the store could not use free pages
}

// NewBackupResult makes one of what the store says.
func NewBackupResult(i store.BackupInfo) BackupResult {
	return BackupResult{
		Path: i.Path, Bytes: i.Bytes, SHA256: i.SHA256, Node: i.Node, Incarnation: i.Incarnation, Seq: i.Seq,
		Tables: i.Tables, TookSeconds: i.Took.Seconds(), HeldSeconds: i.Held.Seconds(),
	}
}

// postBackup reads {"path": "/absolute/path"}; without a path the node chooses. It answers lines of JSON, see adminLine.
func (a *adminSocket) postBackup(c *gin.Context) error {
	var ask struct {
		Path string `json:"path"`
	}
	if err := readAdminBody(c, &ask); err != nil {
		return err
	}
	if ask.Path != "" && !filepath.IsAbs(ask.Path) {
		return fault.New(fault.Invalid, "validation", "path must be absolute: the node runs in another directory")
	}
	out := a.stream(c)
	info, err := a.node.Backup(c.Request.Context(), ask.Path, func(done, total int64) {
		out.progress(AdminProgress{What: "copy", Done: done, Total: total})
	})
	return out.end(NewBackupResult(info), err)
}

// CheckResult is what a check found.
type CheckResult struct {
	Problems []CheckProblem `json:"problems"`
}

// CheckProblem is a promise that the store does not keep.
type CheckProblem struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

// NewCheckResult makes one of what the store found.
func NewCheckResult(problems []store.Problem) CheckResult {
	out := CheckResult{Problems: []CheckProblem{}}
	for _, p := range problems {
		out.Problems = append(out.Problems, CheckProblem{p.Where, p.What})
	}
	return out
}

func (a *adminSocket) postCheck(c *gin.Context) error {
	if err := readAdminBody(c, &struct{}{}); err != nil {
		return err
	}
	out := a.stream(c)
	problems, err := a.node.Check(c.Request.Context(), func(where string) { out.progress(AdminProgress{What: where}) })
	return out.end(NewCheckResult(problems), err)
}

func (a *adminSocket) postMigrateLAv2(c *gin.Context) error {
	var ask MigrateAsk
	if err := readAdminBody(c, &ask); err != nil {
		return err
	}
	out := a.stream(c)
	report, err := a.node.MigrateLAv2(c.Request.Context(), ask, out.progress)
	return out.end(report, err)
}

func (a *adminSocket) postPushTest(c *gin.Context) error {
	var ask json.RawMessage
	if err := readAdminBody(c, &ask); err != nil {
		return err
	}
	out := a.stream(c)
	result, err := a.node.PushTest(c.Request.Context(), ask)
	return out.end(result, err)
}

// readAdminBody reads a small JSON object; no body is an empty one.
func readAdminBody(c *gin.Context, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxAdminBody))
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

// AdminProgress is how far something has come. Without a Total it tells only what is being done.
type AdminProgress struct {
	What  string `json:"what"`
	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
}

// adminLine is a line of an answer that takes a while: some with progress, and a last one with the result or the error.
// What fails before the first line is answered with a status, as everywhere.
type adminLine struct {
	Progress *AdminProgress `json:"progress,omitempty"`
	Result   any            `json:"result,omitempty"`
	Error    *problem       `json:"error,omitempty"`
}

type adminStream struct {
	a    *adminSocket
	c    *gin.Context
	ctl  *http.ResponseController
	told time.Time
	what string
}

// stream begins an answer of lines. The time-out for reading the request would end it: nothing more is read.
func (a *adminSocket) stream(c *gin.Context) *adminStream {
	out := &adminStream{a: a, c: c, ctl: http.NewResponseController(c.Writer)}
	_ = out.ctl.SetReadDeadline(time.Time{}) // a writer without deadlines has none to end it
	return out
}

// progress writes a line now and then. That nobody reads it shows in the request's context.
func (o *adminStream) progress(p AdminProgress) {
	now := o.a.s.wall.Now()
	if p.What == o.what && now.Sub(o.told) < adminTick {
		return
	}
	o.told, o.what = now, p.What
	_ = o.send(adminLine{Progress: &p})
}

// end writes the last line.
func (o *adminStream) end(result any, err error) error {
	switch {
	case err == nil:
		return o.send(adminLine{Result: result})
	case o.told.IsZero():
		return err
	}
	p := problemOf(o.c, adminFailure(err))
	_ = o.send(adminLine{Error: &p})
	return err
}

func (o *adminStream) send(line adminLine) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	_ = o.ctl.SetWriteDeadline(o.a.s.wall.Now().Add(writeWithin))
	o.c.Header("Content-Type", "application/jsonl")
	o.c.Header("Cache-Control", "no-store")
	if _, err := o.c.Writer.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	return o.ctl.Flush()
}
