package sandbox

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Config configures a Sandbox.
type Config struct {
	Addr     string            // empty: 127.0.0.1:0
	Clock    clock.Clock       // for rates, budgets and lifetimes; required
	BundleID string            // empty: com.example.touchline
	TeamID   string            // empty: TEAM000001
	KeyID    string            // empty: KEY0000001
	Streams  int               // concurrent streams per connection; 0: 1000
	First    int               // the same before the first valid provider token; 0: 1
	LogSize  int               // pushes kept in the log; 0: 256
	Seed     string            // source of the device tokens, so that the next sandbox with it has the same phones; empty: the key
	Key      *ecdsa.PrivateKey // the provider's; nil: a new one
	CAKey    *ecdsa.PrivateKey // the authority's; nil: a new one
	Delay    time.Duration     // before every answer, real time
	Logger   *slog.Logger      // nil: silent

	// Lenient accepts pushes from any app: an unknown token becomes a phone at its first push, and any content state is accepted.
	Lenient bool

	wall func() time.Time // for the age of provider tokens
}

// Sandbox is a local APNs.
type Sandbox struct {
	cfg      Config
	roots    *x509.CertPool
	ca       []byte // the same authority in PEM format
	cert     tls.Certificate
	key      *ecdsa.PrivateKey // the provider's, as if downloaded from Apple
	provider provider

	listener net.Listener
	busy     sync.WaitGroup

	beyond atomic.Int64 // streams that clients opened beyond the limit

	mu     sync.Mutex
	tokens map[string]*endpoint
	phones []*phone
	script scripts
	record recorder
	conns  int
	open   map[*conn]struct{}

	streams  uint32 // limit for a client with a valid provider token
	channels map[string]*channel
	made     int // channels created
}

// New creates keys and certificates, and listens on the address; Run answers there.
func New(cfg Config) (*Sandbox, error) {
	cfg.complete()
	for _, key := range []**ecdsa.PrivateKey{&cfg.Key, &cfg.CAKey} {
		if *key != nil {
			continue
		}
		made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "sandbox", "the sandbox cannot create a key")
		}
		*key = made
	}
	roots, ca, cert, err := newCA(cfg.CAKey, cfg.wall())
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "sandbox", "the sandbox cannot create its certificate")
	}
	key := cfg.Key
	if cfg.Seed == "" {
		public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "sandbox", "the sandbox cannot use its key")
		}
		sum := sha256.Sum256(public)
		cfg.Seed = hex.EncodeToString(sum[:])
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", cfg.Addr)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "sandbox", "the push sandbox cannot listen on %s", cfg.Addr)
	}
	return &Sandbox{
		cfg: cfg, roots: roots, ca: ca, cert: cert, key: key, listener: l,
		provider: newProvider(cfg.TeamID, cfg.KeyID, &key.PublicKey, cfg.wall),
		tokens:   map[string]*endpoint{},
		script:   scripts{},
		record:   newRecorder(cfg.LogSize),
		open:     map[*conn]struct{}{},
		streams:  uint32(cfg.Streams),
		channels: map[string]*channel{},
	}, nil
}

func (cfg *Config) complete() {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	cfg.BundleID = cmp.Or(cfg.BundleID, "com.example.touchline")
	cfg.TeamID = cmp.Or(cfg.TeamID, "TEAM000001")
	cfg.KeyID = cmp.Or(cfg.KeyID, "KEY0000001")
	cfg.Streams, cfg.First, cfg.LogSize = cmp.Or(cfg.Streams, 1000), cmp.Or(cfg.First, 1), cmp.Or(cfg.LogSize, 256)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.wall == nil {
		cfg.wall = time.Now
	}
	cfg.Clock = clock.ByWall(cfg.Clock) // it judges what is sent to it
}

// Account is what a provider gets from Apple: ids and the signing key.
type Account struct {
	BundleID, TeamID, KeyID string
	Key, CAKey              *ecdsa.PrivateKey // CAKey is not for providers: it is for the next start
	RootCAs                 *x509.CertPool
	CA                      []byte // RootCAs in PEM format
}

// Account returns the only account of this sandbox.
func (s *Sandbox) Account() Account {
	return Account{
		BundleID: s.cfg.BundleID, TeamID: s.cfg.TeamID, KeyID: s.cfg.KeyID, Key: s.key, CAKey: s.cfg.CAKey, RootCAs: s.roots, CA: s.ca,
	}
}

// Start calls New and then Run until stop is called, which returns Run's error.
func Start(cfg Config) (s *Sandbox, stop func() error, err error) {
	if s, err = New(cfg); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Run(ctx) }()
	return s, sync.OnceValue(func() error { cancel(); return <-served }), nil
}

// URL returns the sandbox's address.
func (s *Sandbox) URL() string { return "https://" + s.listener.Addr().String() }

// manyStreams is the server's own limit: clients are sent a lower one.
const manyStreams = 100_000

// grace is how long pushes under way may take when the sandbox stops.
const grace = 250 * time.Millisecond

// Run serves until ctx ends and every request is done. It may be called once.
func (s *Sandbox) Run(ctx context.Context) error {
	// TLS is handled here, so that frames are visible: the server speaks HTTP/2 inside it.
	var h2 http.Protocols
	h2.SetUnencryptedHTTP2(true)
	srv := &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		Protocols:         &h2,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: manyStreams},
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withConn,
		ConnState:         s.connState,
	}
	inside := &connListener{Listener: s.listener, box: s, tls: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{s.cert}, NextProtos: []string{"h2"},
	}}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(inside) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if srv.Shutdown(stop) != nil {
			_ = srv.Close() // the rest hangs by a script, or its client does
		}
		err = <-served
	}
	s.busy.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fault.Wrap(err, fault.Unavailable, "sandbox", "the push sandbox stopped serving")
}

func (s *Sandbox) connState(c net.Conn, st http.ConnState) {
	if st == http.StateClosed {
		s.removeConn(c)
	}
}

// Connections returns how many connections were ever opened: Apple wants few.
func (s *Sandbox) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}
