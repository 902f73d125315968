package web

import (
	"strings"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

// onceWrite is a write that takes effect once per Idempotency-Key.
type onceWrite struct {
	status int         // of the answer
	input  any         // the decoded body, by which a repeated request is recognized; nil: there is none
	rows   []attr.Item // to fetch first, because another node may have created them
	// plan returns the change. It may run several times, and not at all if the request is repeated.
	plan func(tx *store.Tx, run *onceRun) (threefc.Change, error)
	// show returns the body of the answer; nil: there is none.
	show func(tx *store.Tx, run *onceRun) (any, error)
}

// onceRun is a onceWrite under way.
type onceRun struct {
	ids    *threefc.IDs      // for the records that the plan creates
	at     time.Time         // when the event happened that the plan writes; zero: it has no such time
	status int               // of the answer; the plan may change it
	made   map[string]string // for show: the ids of the records that were created, by kind
	secret string            // of the session that a sign-in begins
}

// writeOnce makes a change and answers with what it shows.
func (h *handlers) writeOnce(r *httpapi.Request, w onceWrite) (httpapi.Response, error) {
	r.Body() // one that the handler has not read must be empty
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := r.Fetch(w.rows...); err != nil {
		return httpapi.Response{}, err
	}
	row, seed, err := h.onceRow(r, w.input)
	if err != nil {
		return httpapi.Response{}, err
	}
	run := &onceRun{ids: &seed, status: w.status}
	response, err := r.WriteOnce(row, func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
		ids := seed // as they were before an earlier attempt
		run.ids = &ids
		c, err := w.plan(tx, run)
		return idempotency.Outcome{Status: run.status, IDs: c.IDs, At: run.at}, c.Writes, err
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		run.made = made
		return w.show(tx, run)
	})
	if err == nil && r.Route.Role == scorekeeper && admitted(r).madeBy == "" {
		h.noteScoring(r)
	}
	return response, err
}

// setTime reads when the event happened that a request reports.
func (run *onceRun) setTime(tx *store.Tx, r *httpapi.Request, s *threefc.Service) (err error) {
	run.at, err = r.OccurredAt(s.Now(tx))
	return err
}

// sessionSecret returns the secret for the cookie of the session that a sign-in begins. A repeated request gets the same one.
func (run *onceRun) sessionSecret(proof string) string {
	if run.secret == "" {
		run.secret = threefc.SessionSecret(proof, run.ids.Seed)
	}
	return run.secret
}

// onceRow returns the row of the request's Idempotency-Key, or nil if it has none, and the seed of the ids of created records, which derive
// from the key.
func (h *handlers) onceRow(r *httpapi.Request, in any) (row *idempotency.Row, seed threefc.IDs, err error) {
	key, err := r.Key()
	if err != nil || key == "" {
		return nil, seed, err
	}
	route := r.Method + ":" + strings.TrimPrefix(r.URL.Path, h.mount)
	scope, former := r.User+":"+route, []string(nil)
	if r.User != "" {
		scope, former = r.OnceScope(scope)
	}
	row = &idempotency.Row{Table: h.Service.Table, Key: threefc.OnceKey(scope, key), Node: h.Node}
	if row.Hash, err = idempotency.Hash(operationIn(scope, route), in); err != nil {
		return nil, seed, err
	}
	for _, other := range former {
		hash, err := idempotency.Hash(operationIn(other, route), in)
		if err != nil {
			return nil, seed, err
		}
		row.Former = append(row.Former, idempotency.Former{Key: threefc.OnceKey(other, key), Hash: hash})
	}
	if scope != r.User+":"+route { // the scope of an API client names its user already
		row.User = r.User
	}
	row.MadeBy = admitted(r).madeBy
	seed.Seed, seed.Hash = operationIn(scope, route)+"\n"+key, row.Hash
	row.More, err = threefc.OnceMore(scope, key, row.Hash)
	return row, seed, err
}

// operationIn returns what is asked for in a scope: that of a device does not name the route.
func operationIn(scope, route string) string {
	if strings.HasPrefix(scope, httpapi.DeviceScope) && !strings.HasSuffix(scope, route) {
		return scope + ":" + route
	}
	return scope
}
