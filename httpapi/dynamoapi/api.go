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

// Config says what an API answers from, and for whom.
type Config struct {
	Store  *store.Store
	Policy store.Policy // of the tables that are created here; empty: PolicyLocal

	// Owned are the tables that a node and its applications work with. They are not deleted, nor lose what is declared of
	// them, and names that begin as those of the node's own tables do are not free. nil: there is no node behind the API.
	Owned []store.TableSpec

	Verifier *sigv4.Verifier  // of signatures; nil: signatures are not verified
	Faults   *inject.Injector // on demand; nil: none
	Reset    ResetAccess      // who may empty the database in one request

	MaxConnections int // open at once; 0: DefaultConnections

	TLS *tls.Config // nil: plain HTTP. Else the port takes plain HTTP from this machine only

	Now     func() time.Time      // nil: the wall clock
	Logger  *slog.Logger          // nil: nobody is told
	Metrics prometheus.Registerer // of what is answered; nil: nobody collects them
}

func (c Config) withDefaults() Config {
	c.Policy = cmp.Or(c.Policy, store.PolicyLocal)
	c.MaxConnections = cmp.Or(c.MaxConnections, DefaultConnections)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = clock.Real().Now
	}
	return c
}

// API answers requests. Its methods may be called from any goroutine.
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

// Do runs an operation, named as in X-Amz-Target without the version, without HTTP and for anybody. What is refused is an
// *Error.
func (a *API) Do(ctx context.Context, operation string, body []byte) ([]byte, error) {
	out := wire.NewEncoder(nil)
	if err := a.answer(ctx, sigv4.Anyone(), operation, string(body), out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// answer decodes a request, runs it if whoever sent it may do that, and writes the answer. An error is an *Error, or
// errDropped, and then nothing counts of what was written.
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
	if err := on.allowed(who); err != nil {
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
		a.costly.tell(c, err, a.cfg.Now().Sub(began))
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

// decode reads a request and holds it against the API's model.
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

// access is what a request needs permission for: actions, as permissions name them, on tables.
type access struct {
	operation string
	actions   []string
	tables    []string // of the actions, by their names
}

func accessOf(operation string, r request) access {
	out := access{operation: operation}
	r.touches(operation, func(action, table string) {
		out.actions, out.tables = append(out.actions, action), append(out.tables, tableName(table))
	})
	return out
}

// allowed refuses what somebody may not do. A request about no table is an action on all.
func (a access) allowed(who *sigv4.Principal) error {
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
