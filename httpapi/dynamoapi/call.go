package dynamoapi

import (
	"context"
	"slices"
	"strings"

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

// ARNs of what the API has:
//
//	arn:aws:dynamodb:region:account:table/name
//	arn:aws:dynamodb:region:account:table/name/index/index
//	arn:aws:dynamodb:region:account:table/name/stream/label

// noAccount stands in ARNs where no account was configured; nobody has it.
const noAccount = "000000000000"

func (c Config) tableARN(table string) string {
	return "arn:aws:dynamodb:" + c.Region + ":" + c.Account + ":table/" + table
}

func (c Config) indexARN(table, index string) string { return c.tableARN(table) + "/index/" + index }

func (c Config) streamARN(table, label string) string { return c.tableARN(table) + "/stream/" + label }

// resource returns what an ARN of DynamoDB names behind "table/": "name", "name/stream/label". Region and account may be
// any: a client's configuration has some, and there is but one here.
func resource(arn string) (name string, ok bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "dynamodb" || parts[3] == "" || !isAccount(parts[4]) {
		return "", false
	}
	return strings.CutPrefix(parts[5], "table/")
}

func isAccount(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// tableOfARN returns the name of a table by its ARN.
func tableOfARN(arn string) (table string, ok bool) {
	table, ok = resource(arn)
	return table, ok && isName(table) && len(table) >= minTableName && len(table) <= maxTableName
}

// streamOfARN returns the table's name and the label of a stream by its ARN.
func streamOfARN(arn string) (table, label string, ok bool) {
	name, ok := resource(arn)
	if !ok {
		return "", "", false
	}
	table, label, ok = strings.Cut(name, "/stream/")
	return table, label, ok && isName(table) && label != "" && !strings.Contains(label, "/")
}

// tableName returns the name of a table that a request calls by its name or its ARN
// (arn:aws:dynamodb:region:account:table/name).
func tableName(name string) string {
	if !strings.HasPrefix(name, "arn:") {
		return name
	}
	if of, ok := resource(name); ok { // as the operations on streams and tags read it: who may do what hangs on both
		name, _, _ = strings.Cut(of, "/")
	}
	return name
}
