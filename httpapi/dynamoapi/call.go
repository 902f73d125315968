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
	Key       string // the id of the access key; empty: signatures are not verified
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
func (c *call) view(fn func(*store.Tx) error) error { return c.api.store.View(c, c.showing(fn)) }

// evaluate is view for what has expressions: their work is bounded.
func (c *call) evaluate(fn func(*store.Tx) error) error {
	return c.api.store.ViewRequest(c, c.showing(fn))
}

// update runs fn in a transaction, and maybe on snapshots before: see store.UpdateRequest. checks reports that it changes nothing.
func (c *call) update(checks bool, fn func(*store.Tx) error) error {
	return c.api.store.UpdateRequest(c, checks, c.showing(fn))
}

// showing has a transaction see what DynamoDB shows: items past their TTL until they are swept, nothing that the node keeps for
// itself, and on demand global indexes that are behind.
func (c *call) showing(fn func(*store.Tx) error) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		tx.ShowExpired()
		tx.HideInternal()
		if d := c.fault.IndexDelay; d > 0 {
			tx.IndexesAsOf(tx.Now().Add(-d))
		}
		return fn(tx)
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

// The place of the tables in ARNs. Clients need one; there is but this one here.
const (
	region  = "us-east-1"
	account = "000000000000"
)

func tableARN(table string) string {
	return "arn:aws:dynamodb:" + region + ":" + account + ":table/" + table
}

func streamARN(table, label string) string { return tableARN(table) + "/stream/" + label }

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
	return table, ok && isTable(table)
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
