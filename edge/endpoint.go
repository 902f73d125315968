package edge

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Endpoint is where the DynamoDB API is to listen and what it is to answer by, before there is a store: whatever a person
// got wrong shows here.
type Endpoint struct {
	ln  net.Listener
	log *slog.Logger

	api    *dynamoapi.API       // nil until there is a store
	counts *prometheus.Registry // what the API counts, alone
}

// NewEndpoint takes the port and reads the files of the configuration. Without an address there is no endpoint: nil. The
// flag is the one by which to choose another address.
func NewEndpoint(ctx context.Context, c DynamoDBConfig, flag string, log *slog.Logger) (*Endpoint, error) {
	if c.Listen == "" {
		return nil, nil //nolint:nilnil // none was asked for
	}
	if p := c.problem(); p != "" {
		return nil, fault.New(fault.Invalid, "bad_listen", "cannot listen: %s", p)
	}
	ln, err := listen(ctx, c.Listen, flag)
	if err != nil {
		return nil, err
	}
	return &Endpoint{ln: ln, log: log}, nil
}

// Addr is where it listens.
func (e *Endpoint) Addr() string {
	if e == nil {
		return ""
	}
	return e.ln.Addr().String()
}

// Close lets the port go of an endpoint that was never run.
func (e *Endpoint) Close() {
	if e != nil {
		_ = e.ln.Close()
	}
}

// open makes the API over a store. Tables that are created there get the policy.
func (e *Endpoint) open(s *store.Store, policy store.Policy) {
	e.api = dynamoapi.New(dynamoapi.Config{Store: s, Policy: policy, Logger: e.log})
	e.counts = prometheus.NewRegistry()
	e.counts.MustRegister(e.api)
}

// run answers until ctx ends and the requests that had begun are answered. The endpoint has been opened.
func (e *Endpoint) run(ctx context.Context) error { return e.api.Run(ctx, e.ln) }

// status is what the endpoint has answered, for /statusz.
func (e *Endpoint) status() *httpapi.EndpointStatus {
	counts, err := requestCounts(e.counts)
	if err != nil {
		e.log.Warn("the requests of the DynamoDB API could not be counted", "err", err)
	}
	return &httpapi.EndpointStatus{Listen: e.Addr(), Requests: counts}
}

// startEndpoint runs the node's endpoint, if it has one, until the returned function is called, which waits for its end.
// If it ends by itself, fail is told.
func (n *Node) startEndpoint(ctx context.Context, fail context.CancelCauseFunc) (stop func() error) {
	e := n.parts.DynamoDB
	if e == nil {
		return func() error { return nil }
	}
	serving, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := e.run(serving)
		if err != nil && serving.Err() == nil {
			fail(err)
			err = nil // told
		}
		done <- err
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// failWith tells fail when the store fails, until the returned function is called.
func failWith(s *store.Store, fail context.CancelCauseFunc) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-s.Failed():
			fail(fault.Wrap(s.Err(), fault.Unavailable, "store_failed", "the database failed: %s", s.Err()))
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// causeOf is why ctx ended, if it was not asked to.
func causeOf(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}
