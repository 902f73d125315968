package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/rebind"
)

// The time-outs of a connection. Streams set their write deadline forward themselves.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 15 * time.Second
	answerWithin     = 30 * time.Second
	idleFor          = 2 * time.Minute
	maxHeader        = 16 << 10
)

// Server answers HTTP. Make it with New and run it with Run.
type Server struct {
	cfg      Config
	log      *slog.Logger
	wall     clock.Clock // real time, for deadlines and heartbeats
	pages    *page.Renderer
	views    *views
	hub      *hub
	metrics  *metrics
	scrape   http.Handler
	document document
	docs     []byte // the page that shows it
	hubNow   hubCache
	handler  http.Handler
	limits   atomic.Pointer[limits]
	readers  readers

	untrusted atomic.Bool // a proxy that is not trusted was logged

	conns *connlimit.Limiter
	cors  gin.HandlerFunc
	cross *http.CrossOriginProtection

	snapshots *snapshots
	encoder   *encoder
	streams   sync.WaitGroup // that have taken their connection over

	draining context.Context //nolint:containedctx // a latch that streams and /readyz watch, not a request's context
	drain    func()
}

// New makes a server. It does no I/O. An error is a metric that is registered already, or a bug in the pages.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	base := ""
	if cfg.Mount == "/" {
		base = "/_"
	}
	pages, err := page.New(base)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Logger, wall: clock.Real(), pages: pages, metrics: m,
		scrape: scraper(cfg.Metrics), encoder: newEncoder(),
		hub:     newHub(cfg.Journal, cfg.Clock, cfg.Logger),
		readers: readers{of: map[string]int{}},
		conns:   connlimit.New(connlimit.Config{Port: "http", Log: cfg.Logger}),
	}
	if s.document, err = newDocument(cfg.Mount); err != nil {
		return nil, err
	}
	if s.docs, err = newDocs(cfg.Mount); err != nil {
		return nil, err
	}
	s.views = &views{s: s, of: map[string]*viewEntry{}}
	s.cross = http.NewCrossOriginProtection()
	if err := s.SetLimits(cfg.limits()); err != nil {
		return nil, err
	}
	if s.cors, err = s.newCORS(); err != nil {
		return nil, err
	}
	s.snapshots = &snapshots{s: s, of: map[string]*snapshotEntry{}}
	var drain context.CancelCauseFunc
	s.draining, drain = context.WithCancelCause(context.Background())
	s.drain = func() { drain(errDrain) }
	if s.handler, err = compressed(s.routes()); err != nil {
		return nil, err
	}
	return s, nil
}

// compressed wraps all answers but streams, which compress what they share once.
func compressed(h http.Handler) (http.Handler, error) {
	// The ETag names what the answer says, compressed or not: gzhttp leaves it alone.
	answers, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.CompressionLevel(5), gzhttp.EnableZstd(false))
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	whole := answers(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			h.ServeHTTP(w, r)
			return
		}
		whole(w, r)
	}), nil
}

// Handler answers requests without a listener, for tests and for mounting. Streams need Run.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves on ln until ctx ends, which is no error. It first turns readers away (/readyz says no), ends the streams,
// lets requests finish for a while, and returns when everything it started has ended. A server runs once.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: rebind.Guard(ln, s.handler, s.elsewhere), ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleFor, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	guarded := s.conns.Guard(srv, ln)
	hubCtx, stopHub := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	leave := s.cfg.Clock.Join()
	loops.Go(func() {
		defer leave()
		s.hub.run(hubCtx)
	})
	serving, served := context.WithCancelCause(ctx)
	loops.Go(func() { served(srv.Serve(guarded)) })
	<-serving.Done()

	err := s.shutDown(ctx, srv)
	stopHub()
	loops.Wait()
	if ctx.Err() == nil { // it ended by itself: the listener broke
		return fmt.Errorf("serve: %w", context.Cause(serving))
	}
	return err
}

// shutDown ends the streams first: http.Server would wait for them for ever.
func (s *Server) shutDown(ctx context.Context, srv *http.Server) error {
	s.drain()
	s.hub.hurry(s.wall.Now().Add(time.Second))
	defer s.streams.Wait()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Drain)
	defer cancel()
	if err := srv.Shutdown(within); err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("shut down: %w", err)
		}
		s.log.Warn("requests cut off at shutdown")
		if err := srv.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	return nil
}
