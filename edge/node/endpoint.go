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

// Endpoint is where the DynamoDB API is to listen and what it is to answer by, before there is a store: whatever a person
// got wrong shows here.
type Endpoint struct {
	ln       net.Listener
	log      *slog.Logger
	verifier *sigv4.Verifier  // nil: signatures are not verified
	faults   *inject.Injector // nil: none
	files    []*watchedFile   // of both
	most     int              // connections open at once; 0: the API's default
	reset    dynamoapi.ResetAccess
	tls      *tls.Config // nil: plain HTTP

	api *dynamoapi.API // nil until there is a store
}

// NewEndpoint takes the port and reads the files of the configuration. Without an address there is no endpoint: nil. The
// flag is the one by which to choose another address.
func NewEndpoint(ctx context.Context, c DynamoDBConfig, flag string, log *slog.Logger) (*Endpoint, error) {
	if c.Listen == "" {
		return nil, nil //nolint:nilnil // none was asked for
	}
	if p := c.ListenProblem(); p != "" {
		return nil, fault.New(fault.Invalid, "bad_listen", "cannot listen: %s", p)
	}
	return NewOpenEndpoint(ctx, c, flag, log)
}

// NewOpenEndpoint is NewEndpoint for an address that may be used, whoever reaches it.
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

// readKeys takes the keys of a file, now and whenever it changes.
func (e *Endpoint) readKeys(file string) error {
	if file == "" {
		return nil
	}
	e.verifier = sigv4.New(&sigv4.Keyring{}, clock.Real().Now)
	return e.read("keys", file, func() error {
		keys, err := sigv4.Load(file)
		if err == nil {
			e.verifier.SetKeys(keys)
		}
		return err
	})
}

// readFaults takes the rules of a file, now and whenever it changes.
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
	f.changed() // looked at before it is read: what is written meanwhile is news
	e.files = append(e.files, f)
	return load()
}

// Addr is where it listens.
func (e *Endpoint) Addr() string {
	if e == nil {
		return ""
	}
	return e.ln.Addr().String()
}

// Close frees the port of an endpoint that was never run.
func (e *Endpoint) Close() {
	if e != nil {
		_ = e.ln.Close()
	}
}

// Limit bounds the connections that are open at once.
func (e *Endpoint) Limit(most int) {
	if e != nil {
		e.most = most
	}
}

// Open creates the API over a store. Tables that are created there get the policy; those that are owned are a node's.
func (e *Endpoint) Open(s *store.Store, policy store.Policy, metrics prometheus.Registerer, owned ...store.TableSpec) {
	e.api = dynamoapi.New(dynamoapi.Config{
		Store: s, Policy: policy, Owned: owned, Verifier: e.verifier, Faults: e.faults, Reset: e.reset, Logger: e.log,
		MaxConnections: e.most, TLS: e.tls, Metrics: metrics,
	})
}

// Run answers until ctx ends and the requests that had begun are answered. The endpoint has been opened.
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

// status is what the endpoint has answered, for /statusz.
func (e *Endpoint) status() *operator.EndpointStatus {
	return &operator.EndpointStatus{Listen: e.Addr(), Requests: e.api.Requests(), Faults: e.faults.Status()}
}

// startEndpoint runs the node's endpoint, if it has one, until the returned function is called, which waits for its end.
// If it ends by itself, fail is told.
func (n *Node) startEndpoint(ctx context.Context, fail context.CancelCauseFunc) (stop func() error) {
	e := n.parts.DynamoDB
	if e == nil {
		return func() error { return nil }
	}
	var err error
	end := Background(ctx, func(ctx context.Context) {
		if err = e.Run(ctx); err != nil && ctx.Err() == nil {
			fail(err)
			err = nil // told
		}
	})
	return func() error { end(); return err }
}

// FailWith calls fail when the store fails, until the returned function is called.
func FailWith(s *store.Store, fail context.CancelCauseFunc) (stop func()) {
	return Background(context.Background(), func(ctx context.Context) {
		select {
		case <-s.Failed():
			fail(fault.Wrap(s.Err(), fault.Unavailable, "store_failed", "the database failed: %s", s.Err()))
		case <-ctx.Done():
		}
	})
}

// CauseOf is why ctx ended, if it was not asked to.
func CauseOf(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// Secure has the endpoint speak TLS with a certificate that somebody else keeps.
func (e *Endpoint) Secure(s certs.Source) {
	if e != nil {
		e.tls = certs.Config(s)
		e.tls.NextProtos = []string{"http/1.1"} // as DynamoDB's own endpoint
	}
}

// ResetBy allows the tables to be emptied over HTTP.
func (e *Endpoint) ResetBy(who dynamoapi.ResetAccess) { e.reset = who }

// Reload reads the endpoint's files again, changed or not, and gives their names. A file that is wrong changes nothing.
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
