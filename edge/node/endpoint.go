package node

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Endpoint is the DynamoDB API before there is a store: its port and its files. It is created first, so that configuration errors show
// before anything starts.
type Endpoint struct {
	ln       net.Listener
	log      *slog.Logger
	verifier *sigv4.Verifier  // nil: signatures are not verified
	faults   *inject.Injector // nil: none
	files    []*watchedFile   // keys and faults
	most     int              // limit of open connections; 0: the API's default
	reset    dynamoapi.ResetAccess
	tls      *tls.Config // nil: plain HTTP

	api *dynamoapi.API // nil until Open
}

// NewEndpoint listens on the configured address and reads the configured files. It returns nil if no address is set. flag is the flag
// that chooses another address, for the error message.
func NewEndpoint(ctx context.Context, c DynamoDBConfig, flag string, log *slog.Logger) (*Endpoint, error) {
	if c.Listen == "" {
		return nil, nil //nolint:nilnil // not configured
	}
	if p := c.ListenProblem(); p != "" {
		return nil, fault.New(fault.Invalid, "bad_listen", "cannot listen: %s", p)
	}
	return NewOpenEndpoint(ctx, c, flag, log)
}

// NewOpenEndpoint is NewEndpoint without the check that an address open to other machines needs keys.
func NewOpenEndpoint(ctx context.Context, c DynamoDBConfig, flag string, log *slog.Logger) (*Endpoint, error) {
	e := &Endpoint{log: log}
	err := errors.Join(e.readKeys(c.Auth), e.readFaults(c.Inject))
	if err == nil {
		e.ln, err = Listen(ctx, c.Listen, flag)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// readKeys reads a file of keys, now and whenever it changes.
func (e *Endpoint) readKeys(file string) error {
	if file == "" {
		return nil
	}
	e.verifier = sigv4.New(&sigv4.Keyring{}, clock.Real().Wall)
	return e.read("keys", file, func() error {
		keys, err := sigv4.Load(file)
		if err == nil {
			e.verifier.SetKeys(keys)
		}
		return err
	})
}

// readFaults reads a file of faults, now and whenever it changes.
func (e *Endpoint) readFaults(file string) error {
	if file == "" {
		return nil
	}
	e.log.Warn("fault injection is on for the DynamoDB API", "file", file)
	e.faults = new(inject.Injector)
	return e.read("faults", file, func() error {
		rules, err := inject.Load(file)
		if err != nil {
			return err
		}
		return e.faults.Set(rules)
	})
}

func (e *Endpoint) read(what, file string, load func() error) error {
	f := &watchedFile{what: what, path: file, load: load}
	f.hasChanged() // stat before reading, so that a write in between counts as a change
	e.files = append(e.files, f)
	return load()
}

// Addr returns the listening address; empty: no endpoint.
func (e *Endpoint) Addr() string {
	if e == nil {
		return ""
	}
	return e.ln.Addr().String()
}

// Close releases the port of an endpoint that was never run.
func (e *Endpoint) Close() {
	if e != nil {
		_ = e.ln.Close()
	}
}

// Limit sets the limit of open connections.
func (e *Endpoint) Limit(most int) {
	if e != nil {
		e.most = most
	}
}

// Open creates the API on a store. Tables created over it get policy. It cannot change the owned tables, which are the node's. cloud is
// the node's; nil: none.
func (e *Endpoint) Open(s *store.Store, policy store.Policy, cloud dynamoapi.Cloud, metrics prometheus.Registerer, owned ...store.TableSpec) {
	e.api = dynamoapi.New(dynamoapi.Config{
		Store: s, Policy: policy, Cloud: cloud, Owned: owned, Verifier: e.verifier, Faults: e.faults, Reset: e.reset, Logger: e.log,
		MaxConnections: e.most, TLS: e.tls, Metrics: metrics,
	})
}

// Run serves until ctx ends and all started requests are answered. Call Open before.
func (e *Endpoint) Run(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	var loops sync.WaitGroup
	defer loops.Wait()
	defer stop()
	for _, f := range e.files {
		loops.Go(func() { f.watch(watching, clock.Real(), e.log) })
	}
	return e.api.Run(ctx, e.ln)
}

// endpointCloud returns what the endpoint needs of the cloud; nil: there is none.
func (n *Node) endpointCloud() dynamoapi.Cloud {
	if n.sync == nil {
		return nil
	}
	return n.sync
}

// status returns the endpoint's state for /statusz.
func (e *Endpoint) status() *operator.EndpointStatus {
	return &operator.EndpointStatus{Listen: e.Addr(), Faults: e.faults.Status()}
}

// startEndpoint runs the node's endpoint, if any, until stop is called, which waits for its end. If the endpoint fails by itself, it
// calls fail.
func (n *Node) startEndpoint(ctx context.Context, fail context.CancelCauseFunc) (stop func() error) {
	e := n.parts.DynamoDB
	if e == nil {
		return func() error { return nil }
	}
	var err error
	end := Background(ctx, func(ctx context.Context) {
		if err = e.Run(ctx); err != nil && ctx.Err() == nil {
			fail(err)
			err = nil // reported by fail
		}
	})
	return func() error { end(); return err }
}

// FailWith calls fail when the store fails, until stop is called.
func FailWith(s *store.Store, fail context.CancelCauseFunc) (stop func()) {
	return Background(context.Background(), func(ctx context.Context) {
		select {
		case <-s.Failed():
			fail(fault.Wrap(s.Err(), fault.Unavailable, "store_failed", "the database failed: %s", s.Err()))
		case <-ctx.Done():
		}
	})
}

// CauseOf returns why ctx ended, or nil if it was cancelled normally.
func CauseOf(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// Secure makes the endpoint use TLS with a certificate that somebody else renews.
func (e *Endpoint) Secure(s certs.Source) {
	if e != nil {
		e.tls = certs.Config(s)
		e.tls.NextProtos = []string{"http/1.1"} // like DynamoDB's own endpoint
	}
}

// ResetBy sets who may empty the tables over HTTP.
func (e *Endpoint) ResetBy(who dynamoapi.ResetAccess) { e.reset = who }

// Reload reads the endpoint's files again, changed or not, and returns their paths. An invalid file leaves the previous contents in
// force.
func (e *Endpoint) Reload() (files []string, err error) {
	if e == nil {
		return nil, nil
	}
	for _, f := range e.files {
		if err := f.reload(); err != nil {
			return files, err
		}
		files = append(files, f.path)
	}
	return files, nil
}
