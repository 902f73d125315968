package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/serve"
)

// Connection timeouts. Streams extend their write deadline themselves.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 15 * time.Second
	answerWithin     = 30 * time.Second
	idleFor          = 2 * time.Minute
	maxHeader        = 16 << 10
)

// Server serves applications over HTTP. Create it with New and start it with Run.
type Server struct {
	cfg     Config
	log     *slog.Logger
	wall    clock.Clock // real time, for deadlines and heartbeats
	apps    []*mounted
	own     map[string]bool // paths of the node's routes
	pages   *page.Renderer  // renders the node's own pages
	events  *sse.Broadcaster
	metrics *metrics
	scrape  http.Handler
	state   stateCache
	handler http.Handler
	engine  http.Handler // handler without compression
	port    string       // port that Run serves on
	limits  atomic.Pointer[limits]
	asks    *ask.Desk // nil: no cloud
	readers readers

	untrusted atomic.Bool // an untrusted proxy has been logged

	conns *connlimit.Limiter
	cross *http.CrossOriginProtection

	encoder *sse.Encoder
	streams sync.WaitGroup // streams that have taken over their connection

	draining context.Context //nolint:containedctx // a latch that streams and /readyz watch, not a request's context
	drain    func()
}

// New creates a server. It does no I/O. It returns an error if an application has an invalid origin or mount, or a page is broken. It
// panics if its metrics are registered already.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, log: cfg.Logger, wall: clock.Real(), metrics: newMetrics(cfg.Metrics), scrape: scraper(cfg.Metrics), encoder: sse.NewEncoder(),
		readers: readers{of: map[string]int{}}, cross: http.NewCrossOriginProtection(),
	}
	s.conns = connlimit.New(connlimit.Config{Port: "http", Log: cfg.Logger, Proxies: forwarding{s}, Refuse: http.HandlerFunc(s.refuseBusy)})
	s.events = sse.NewBroadcaster(cfg.Store, cfg.Clock, cfg.Logger, s.announcedBy)
	for _, a := range cfg.Apps {
		m, err := s.mount(a)
		if err != nil {
			return nil, fmt.Errorf("application %s: %w", a.Name, err)
		}
		s.apps = append(s.apps, m)
	}
	if err := errors.Join(s.distinct(), s.issuersKnown()); err != nil {
		return nil, err
	}
	s.own = map[string]bool{}
	for _, r := range s.nodeRoutes() {
		s.own[r.Path] = true
	}
	var err error
	if s.pages, err = page.New(strings.TrimSuffix(s.home(), "/"), nil, nil); err != nil {
		return nil, err
	}
	if cfg.ReadCloud != nil {
		if s.asks, err = ask.New(ask.Config{Store: cfg.Store, Clock: s.wall, Read: cfg.ReadCloud, Asked: s.metrics.countQuestion}); err != nil {
			return nil, err
		}
	}
	if err := s.SetLimits(cfg.Limits); err != nil {
		return nil, err
	}
	var drain context.CancelCauseFunc
	s.draining, drain = context.WithCancelCause(context.Background())
	s.drain = func() { drain(errDrain) }
	s.handler, err = compressAnswers(s.routes())
	return s, err
}

// distinct checks that applications have different names, and mounts that do not overlap.
func (s *Server) distinct() error {
	for i, a := range s.apps {
		for _, b := range s.apps[:i] {
			if a.Name == b.Name || a.prefix == b.prefix || strings.HasPrefix(a.prefix, b.prefix+"/") && b.prefix != "" || strings.HasPrefix(b.prefix, a.prefix+"/") && a.prefix != "" {
				return fault.New(fault.Invalid, "bad_mount", "The applications %s at %s and %s at %s cannot be served together.", b.Name, b.Mount, a.Name, a.Mount)
			}
		}
	}
	return nil
}

const (
	leastCompressed = 1024 // bytes: shorter answers are sent as they are
	compression     = 5    // level
)

// compressAnswers compresses all answers except streams, which share compressed frames.
func compressAnswers(h http.Handler) (http.Handler, error) {
	// The ETag identifies the content, compressed or not: gzhttp leaves it alone.
	answers, err := gzhttp.NewWrapper(gzhttp.MinSize(leastCompressed), gzhttp.CompressionLevel(compression), gzhttp.EnableZstd(false))
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	whole := answers(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawPath = strings.ReplaceAll(r.URL.RawPath, "+", "%2B") // gin unescapes path segments like query values
		if isStream(r) {
			h.ServeHTTP(w, r)
			return
		}
		whole(w, r)
	}), nil
}

// Handler returns the handler for use without a listener, in tests or to mount it. Streams need Run.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves on ln until ctx ends, which is not an error. It then reports not ready at /readyz, ends the streams, gives requests
// Config.Drain to finish, and returns when everything it started has ended. A server runs once.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	s.port = portOf(ln.Addr().String())
	srv := NewHTTPServer(s.atPort(ln), s.log)
	guarded := s.conns.Guard(srv, ln)
	eventsCtx, stopEvents := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	leave := s.cfg.Clock.Join()
	loops.Go(func() {
		defer leave()
		s.events.Run(eventsCtx)
	})
	guarded = s.listen(eventsCtx, srv, guarded, loops.Go)
	err := serve.RunServer(ctx, srv, guarded, s.cfg.Drain, func() { // http.Server would wait forever for streams
		s.drain()
		s.events.Hurry(s.wall.Wall().Add(time.Second))
	})
	s.streams.Wait()
	stopEvents()
	loops.Wait()
	return err
}

// NewHTTPServer returns an HTTP server with our standard timeouts.
func NewHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: answerWithin, IdleTimeout: idleFor,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
