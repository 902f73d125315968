package dynamoapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/rebind"
)

// The limits of a connection.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 30 * time.Second // a request of 16 MB over a slow line
	answerWithin     = 60 * time.Second
	idleFor          = 5 * time.Minute // clients keep connections in a pool
	drainFor         = 10 * time.Second
	maxHeader        = 16 << 10
	maxConnections   = 8192 // more wait
	maxIdle          = 4096 // who comes when there are more open connections may not keep theirs, so that nobody waits for the idle
)

// Run serves on ln until ctx ends, which is no error. Requests that have begun are finished, within a limit.
func (a *API) Run(ctx context.Context, ln net.Listener) error {
	var open crowd
	srv := &http.Server{
		Handler: rebind.Guard(ln, open.thin(a)), ConnState: open.note, ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(a.cfg.Logger.Handler(), slog.LevelDebug),
	}
	serving, served := context.WithCancelCause(ctx)
	var loop sync.WaitGroup
	loop.Go(func() { served(srv.Serve(netutil.LimitListener(ln, maxConnections))) })
	<-serving.Done()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	err := srv.Shutdown(within)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	loop.Wait()
	if ctx.Err() == nil { // it ended by itself: the listener broke
		return fmt.Errorf("serve: %w", context.Cause(serving))
	}
	return err
}

// crowd counts the open connections of a server.
type crowd struct{ open atomic.Int64 }

func (c *crowd) note(_ net.Conn, is http.ConnState) {
	switch is {
	case http.StateNew:
		c.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.open.Add(-1)
	}
}

// thin closes connections behind their answers while there are many.
func (c *crowd) thin(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.open.Load() > maxIdle {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		a.health(w)
		return
	}
	began := a.cfg.Now()
	out := a.encoders.get()
	defer a.encoders.put(out)
	operation, err := a.serve(w, r, out)
	if errors.Is(err, errDropped) {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	status := http.StatusOK
	var refused *Error
	if err != nil {
		refused = a.refusal(err)
		out.Rewind(wire.Mark{})
		refused.write(out)
		status = refused.Status
	}
	a.note(r, operation, refused, a.cfg.Now().Sub(began))
	send(w, r, status, out.Bytes())
}

// health is what the service says to who only looks.
func (a *API) health(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintf(w, "healthy: dynamodb.%s.amazonaws.com ", a.cfg.Region) // the client may have gone
}

// serve runs a request. After an error nothing of what is in out counts.
func (a *API) serve(w http.ResponseWriter, r *http.Request, out *wire.Encoder) (operation string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err := checkForm(r); err != nil {
		return "", err
	}
	body, err := a.bodies.read(w, r, a.cfg.Verifier != nil)
	if err != nil {
		return "", err
	}
	defer a.bodies.release(body)
	who, err := a.cfg.Verifier.Verify(r, body.hash)
	if err != nil {
		return "", err
	}
	if operation, err = target(r); err != nil {
		return "", err
	}
	return operation, a.answer(withHost(r, operation), who, operation, body.text, out)
}

// note counts and logs a request.
func (a *API) note(r *http.Request, operation string, refused *Error, took time.Duration) {
	a.count(operation, refused, took)
	log, ctx := a.cfg.Logger, r.Context()
	switch {
	case refused == nil:
		if log.Enabled(ctx, slog.LevelDebug) {
			log.DebugContext(ctx, "request", "operation", operation, "key", sigv4.AccessKey(r), "took", took)
		}
	case refused.Status >= http.StatusInternalServerError && refused.cause != nil: // not a fault on demand
		log.ErrorContext(ctx, "request failed", "operation", operation, "type", refused.name(), "took", took, "err", refused.cause)
	default:
		if log.Enabled(ctx, slog.LevelDebug) {
			log.DebugContext(ctx, "request refused", "operation", operation, "key", sigv4.AccessKey(r), "type", refused.name(), "message", refused.Message, "took", took)
		}
	}
}

// encoders are used again and again, but for large ones.
type encoders struct{ pool sync.Pool }

// maxKept is how large a buffer may be to be kept.
const maxKept = 64 << 10

func (e *encoders) get() *wire.Encoder {
	if out, ok := e.pool.Get().(*wire.Encoder); ok {
		return out
	}
	return wire.NewEncoder(make([]byte, 0, 4096))
}

func (e *encoders) put(out *wire.Encoder) {
	if cap(out.Bytes()) > maxKept {
		return
	}
	out.Rewind(wire.Mark{})
	e.pool.Put(out)
}
