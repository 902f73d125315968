package dynamoapi

import (
	"context"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// call is one request on its way.
type call struct {
	context.Context //nolint:containedctx // it is the request's own, and a call lives no longer
	api             *API
	out             *wire.Encoder // the members of the answer; its braces are set around it
	fault           inject.Fault  // that is to happen to it; the operation looks at what only it can do
}

// view runs fn on a snapshot.
func (c *call) view(fn func(*store.Tx) error) error {
	return c.api.store.View(c, func(tx *store.Tx) error {
		c.show(tx)
		return fn(tx)
	})
}

// update runs fn in a transaction.
func (c *call) update(fn func(*store.Tx) error) error {
	return c.api.store.Update(c, func(tx *store.Tx) error {
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
