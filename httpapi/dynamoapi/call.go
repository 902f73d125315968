package dynamoapi

import (
	"context"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// call is one request on its way.
type call struct {
	context.Context //nolint:containedctx // it is the request's own, and a call lives no longer
	api             *API
	out             *wire.Encoder // the members of the answer; its braces are set around it
	silent          bool          // the answer has no body at all
	fault           inject.Fault  // that is to happen to it; the operation looks at what only it can do
	caller          Caller
}

// Caller says whose request it is.
type Caller struct {
	Key       string // the id of the access key; empty: nobody is asked
	Operation string
	Tables    []string // that the request names; the same one may be there several times
}

// CallerOf returns the request of the API that a context belongs to; false: to none.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(*call)
	if !ok {
		return Caller{}, false
	}
	who := c.caller
	who.Tables = slices.Compact(slices.Sorted(slices.Values(who.Tables)))
	if len(who.Tables) > maxNamed {
		who.Tables = who.Tables[:maxNamed]
	}
	return who, true
}

// maxNamed is how many tables a line of the log names.
const maxNamed = 5

type callerKey struct{}

// Value has the context of a call tell of the call.
func (c *call) Value(key any) any {
	if key == (callerKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// view runs fn on a snapshot.
func (c *call) view(fn func(*store.Tx) error) error {
	return c.api.store.View(c, func(tx *store.Tx) error {
		c.show(tx)
		return fn(tx)
	})
}

// evaluate is view for what has expressions: their work is bounded.
func (c *call) evaluate(fn func(*store.Tx) error) error {
	return c.api.store.ViewRequest(c, func(tx *store.Tx) error {
		c.show(tx)
		return fn(tx)
	})
}

// update runs fn in a transaction, and maybe on snapshots before: see store.UpdateRequest. checks tells that it changes nothing.
func (c *call) update(checks bool, fn func(*store.Tx) error) error {
	return c.api.store.UpdateRequest(c, checks, func(tx *store.Tx) error {
		c.show(tx)
		return fn(tx)
	})
}

// show has a transaction see what DynamoDB shows: items past their TTL until they are swept, nothing that the node keeps for
// itself, and on demand global indexes that are behind.
func (c *call) show(tx *store.Tx) {
	tx.ShowExpired()
	tx.HideInternal()
	if d := c.fault.IndexDelay; d > 0 {
		tx.IndexesAsOf(tx.Now().Add(-d))
	}
}

// table describes a table by the name, or the ARN, that a request has for it. What the node keeps for itself is not
// there.
func (c *call) table(name string) (store.TableDescription, error) {
	d, err := c.api.store.Describe(tableName(name))
	if err != nil || d.Spec.Internal {
		return d, errNoTable()
	}
	return d, nil
}
