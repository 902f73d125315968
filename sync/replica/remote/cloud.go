package remote

import (
	"context"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Cloud is what the replicator needs of DynamoDB. Every error is an *intent.Error. Each call is one request with its own deadline: nothing
// is retried behind the replicator's back, because only it knows what a retry means.
type Cloud interface {
	// Write sends one operation and returns the item after it, if known without another request: for an update (ALL_NEW) and a
	// put. For a delete it returns nil.
	Write(ctx context.Context, c intent.Call) (attr.Item, error)
	// Transact sends up to 100 operations that are done all or none. It returns no images.
	Transact(ctx context.Context, calls []intent.Call, token string) error
	// Get reads an item consistently; nil: no item.
	Get(ctx context.Context, table string, key attr.Item) (attr.Item, error)
	// Read returns one page of a Query (KeyCondition set) or Scan.
	Read(ctx context.Context, r Reading) (Page, error)
	Server
}

// Server is what a Cloud tells of itself.
type Server interface {
	// Table returns which table has a name now; intent.NoTable: there is none. It is asked at each connect, periodically, and before
	// absent items are deleted here: a recreated or restored table has lost writes.
	Table(ctx context.Context, name string) (TableState, error)
	// Transactions asks the server whether it has transactions; an error means that it is still unknown.
	Transactions(ctx context.Context) (bool, error)
	// Skew returns the server's clock minus ours, according to its latest answers.
	Skew() time.Duration
	// KnowsServerTime reports whether a server has shown its time since the start in a credible answer.
	KnowsServerTime() bool
	// Usage returns the requests since the start and their cost. It only grows.
	Usage() Usage
}

// Reading requests a page of a table: a Query if KeyCondition is set, otherwise a Scan.
type Reading struct {
	Table        string
	KeyCondition string
	expr.Params
	After attr.Item // LastKey of the previous page; nil: from the beginning
	Limit int       // in items; 0: DynamoDB's pages of 1 MB
	// Consistent asks for all writes that were answered before. Otherwise a page may show the table as it was some time ago.
	Consistent bool
}

// Page is the result of a Reading, sidecars included.
type Page struct {
	Items   []attr.Item
	LastKey attr.Item // nil: no more pages
}

// Usage counts requests since the start, and the capacity that the cloud reported for them.
type Usage struct {
	Requests   int64   `json:"requests"`
	WriteUnits float64 `json:"writeUnits"` // in DynamoDB's units, indexes included; 0 if the server reports none
	ReadUnits  float64 `json:"readUnits"`
}

// TableState identifies the table behind a name.
type TableState struct {
	ID         string    // changes when the table is recreated or restored
	CreatedAt  time.Time // zero: unknown
	RestoredAt time.Time // the instant it was restored to; zero: not restored

	Key store.KeySpec // zero: unknown
}
