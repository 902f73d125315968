package dynamoapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// Config configures an API.
type Config struct {
	Store  *store.Store
	Policy store.Policy // policy of tables created here; empty: PolicyLocal

	// Owned are the tables of a node and its applications. They cannot be deleted or lose what is declared for them, and names with the
	// prefix of the node's own tables are reserved. nil: there is no node behind the API.
	Owned []store.TableSpec

	Cloud Cloud // of the node; nil: none

	Verifier *sigv4.Verifier  // nil: signatures are not verified
	Faults   *inject.Injector // fault injection; nil: none
	Reset    ResetAccess      // who may reset the database

	MaxConnections int // limit of open connections; 0: DefaultConnections

	TLS *tls.Config // nil: plain HTTP; otherwise plain HTTP is accepted from this machine only

	Now     func() time.Time      // nil: the wall clock
	Logger  *slog.Logger          // nil: silent
	Metrics prometheus.Registerer // may be nil
}

func (c Config) withDefaults() Config {
	c.Policy = cmp.Or(c.Policy, store.PolicyLocal)
	c.MaxConnections = cmp.Or(c.MaxConnections, DefaultConnections)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = clock.Real().Wall
	}
	return c
}

// API serves the operations. It is safe for concurrent use.
type API struct {
	cfg        Config
	store      *store.Store
	operations map[string]func() request
	bodies     bodies
	encoders   encoders
	metrics    *metrics
	sizes      tableSizes
	costly     costly
}

// New creates an API. It does no I/O.
func New(cfg Config) *API {
	cfg = cfg.withDefaults()
	a := &API{cfg: cfg, store: cfg.Store, operations: map[string]func() request{}, metrics: newMetrics(cfg.Metrics)}
	for _, op := range operations() {
		a.operations[op.name] = op.new
	}
	return a
}

// Do runs an operation without HTTP and without access control. operation is named as in X-Amz-Target, without the version. A refusal
// is an *Error.
func (a *API) Do(ctx context.Context, operation string, body []byte) ([]byte, error) {
	out := wire.NewEncoder(nil)
	if err := a.answer(ctx, sigv4.Anyone(), operation, string(body), out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// answer decodes a request, runs it if its sender may do that, and writes the answer to out. An error is an *Error or errDropped; the
// contents of out are then invalid.
func (a *API) answer(ctx context.Context, who *sigv4.Principal, operation, body string, out *wire.Encoder) error {
	err := a.run(ctx, who, operation, body, out)
	if err == nil || errors.Is(err, errDropped) {
		return err
	}
	return a.refusal(err)
}

func (a *API) run(ctx context.Context, who *sigv4.Principal, operation, body string, out *wire.Encoder) error {
	r, err := a.decode(operation, body)
	if err != nil {
		return err
	}
	on := accessOf(operation, r)
	if err := on.checkAllowed(who); err != nil {
		return err
	}
	c := &call{
		Context: ctx, api: a, out: out, fault: a.cfg.Faults.Decide(operation, on.tables),
		caller: Caller{Key: who.ID(), Operation: operation, Tables: on.tables},
	}
	if err := c.meet(r); err != nil {
		return err
	}
	out.Begin()
	began := a.cfg.Now()
	if err := r.run(c); err != nil {
		a.costly.logRefused(c, err, a.cfg.Now().Sub(began))
		return err
	}
	out.End()
	if c.silent {
		out.Reset()
	}
	if c.fault.DropAnswer {
		return errDropped
	}
	return nil
}

// decode decodes a request and checks it against the API's model.
func (a *API) decode(operation, body string) (request, error) {
	newRequest, ok := a.operations[operation]
	if !ok {
		return nil, errUnknownOperation(operation)
	}
	r := newRequest()
	d := wire.NewDecoder(body)
	if err := d.Root(r.members); err != nil {
		return nil, err
	}
	var c constraints
	r.constrain(&c)
	return r, c.err()
}

// access is the permission that a request needs: actions, as named in permissions, each on one table.
type access struct {
	operation string
	actions   []string
	tables    []string // table name of each action
}

func accessOf(operation string, r request) access {
	out := access{operation: operation}
	r.touches(operation, func(action, table string) {
		out.actions, out.tables = append(out.actions, action), append(out.tables, tableName(table))
	})
	return out
}

// checkAllowed returns an error if the sender lacks the permission. A request that names no table is an action on all tables.
func (a access) checkAllowed(who *sigv4.Principal) error {
	if len(a.actions) == 0 {
		return who.Allow(a.operation)
	}
	for i, action := range a.actions {
		if err := who.Allow(action, a.tables[i]); err != nil {
			return err
		}
	}
	return nil
}
