package dynamoapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// call is a request being processed.
type call struct {
	context.Context //nolint:containedctx // the request's own, which lives as long as the call
	api             *API
	out             *wire.Encoder // members of the answer, without the enclosing braces
	silent          bool          // the answer has no body
	fault           inject.Fault  // injected fault; the operation handles what only it can do
	caller          Caller
}

// Caller identifies a request and its sender.
type Caller struct {
	Key       string // access key id; empty: signatures are not verified
	Operation string
	Tables    []string // tables that the request names, possibly repeated
}

// CallerOf returns the API request that a context belongs to; false: none.
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

// maxNamed is how many tables a log line names.
const maxNamed = 5

type callerKey struct{}

// Value makes the call available from its context.
func (c *call) Value(key any) any {
	if key == (callerKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// view runs fn on a snapshot.
func (c *call) view(fn func(*store.Tx) error) error { return c.api.store.View(c, c.showing(fn)) }

// evaluate is view for expressions, whose work is bounded.
func (c *call) evaluate(fn func(*store.Tx) error) error {
	return c.api.store.ViewRequest(c, c.showing(fn))
}

// update runs fn in a transaction, possibly on snapshots before: see store.UpdateRequest. checks is set if fn only checks conditions.
func (c *call) update(checks bool, fn func(*store.Tx) error) error {
	c.refreshJudged(fn)
	return c.api.store.UpdateRequest(c, checks, c.showing(fn))
}

// Cloud is what the API needs of a node's cloud. What others write to some tables does not arrive here by itself: their items may be older
// than the cloud's, or missing.
type Cloud interface {
	// SendsOnly reports whether others' writes to a table do not arrive here.
	SendsOnly(table string) bool
	// ReadFresh reads items of a table from the cloud into the store. It fails if the cloud does not answer.
	ReadFresh(ctx context.Context, table string, keys ...attr.Item) error
}

// freshWithin is how long a request waits for items from the cloud. After that it is judged by what is here, and by the cloud later.
const freshWithin = 2 * time.Second

// refresh reads items from the cloud if others' writes to their table do not arrive here. If that is impossible, what is here counts.
func (c *call) refresh(table string, keys ...attr.Item) {
	cloud := c.api.cfg.Cloud
	if len(keys) == 0 || cloud == nil || !cloud.SendsOnly(table) {
		return
	}
	ctx, cancel := context.WithTimeout(c, freshWithin)
	defer cancel()
	_ = cloud.ReadFresh(ctx, table, keys...) // without the cloud the node goes on by itself; a wrong key is refused by the operation
}

// refreshJudged reads from the cloud the items whose state decides what fn does: those with conditions, those it updates, and those it
// returns. fn runs on a snapshot for that.
//
// Example: at a second node, an UpdateItem under attribute_exists(id) of an item that the first one created is judged by the cloud's item,
// not refused because there is none here.
func (c *call) refreshJudged(fn func(*store.Tx) error) {
	cloud := c.api.cfg.Cloud
	if cloud == nil || !slices.ContainsFunc(c.caller.Tables, func(name string) bool { return cloud.SendsOnly(tableName(name)) }) {
		return
	}
	judged := map[string][]attr.Item{}
	_ = c.api.store.Rehearse(c, c.showing(func(tx *store.Tx) error { // a refusal may be due to the items that are read next
		tx.OnJudged(func(table string, key attr.Item) { judged[table] = append(judged[table], key) })
		return fn(tx)
	}))
	for table, keys := range judged {
		c.refresh(table, keys...)
	}
}

// showing makes a transaction show what DynamoDB shows: items past their TTL until they are swept, no internal tables, and with fault
// injection lagging global indexes.
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

// table describes a table by its name or ARN in a request. The node's internal tables count as missing.
func (c *call) table(name string) (store.TableDescription, error) {
	d, err := c.api.store.Describe(tableName(name))
	if err != nil || d.Spec.Internal {
		return d, errNoTable()
	}
	return d, nil
}

// ARNs of tables, indexes and streams:
//
//	arn:aws:dynamodb:region:account:table/name
//	arn:aws:dynamodb:region:account:table/name/index/index
//	arn:aws:dynamodb:region:account:table/name/stream/label

// Region and account in ARNs. Clients need some value; there is only one here.
const (
	region  = "us-east-1"
	account = "000000000000"
)

func tableARN(table string) string {
	return "arn:aws:dynamodb:" + region + ":" + account + ":table/" + table
}

func streamARN(table, label string) string { return tableARN(table) + "/stream/" + label }

// resource returns what follows "table/" in a DynamoDB ARN: "name", "name/stream/label". Any region and account will do, because they
// depend on the client's configuration and there is only one here.
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

// tableOfARN returns the table name in an ARN.
func tableOfARN(arn string) (table string, ok bool) {
	table, ok = resource(arn)
	return table, ok && isTable(table)
}

// streamOfARN returns the table name and label in a stream's ARN.
func streamOfARN(arn string) (table, label string, ok bool) {
	name, ok := resource(arn)
	if !ok {
		return "", "", false
	}
	table, label, ok = strings.Cut(name, "/stream/")
	return table, label, ok && isName(table) && label != "" && !strings.Contains(label, "/")
}

// tableName returns the name of a table that a request names directly or by ARN (arn:aws:dynamodb:region:account:table/name).
func tableName(name string) string {
	if !strings.HasPrefix(name, "arn:") {
		return name
	}
	if path, ok := resource(name); ok { // parsed as for streams and tags: permission is checked for this name
		name, _, _ = strings.Cut(path, "/")
	}
	return name
}
