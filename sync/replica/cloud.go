package replica

import (
	"context"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Cloud is what the replicator needs of DynamoDB. Every error is an *intent.Error. Each call is one request with a
// deadline of its own: nothing is repeated behind the replicator's back, for only it knows what a repetition means.
type Cloud interface {
	// Write sends one operation and returns the item after it as far as that is known without asking again: of an update
	// (ALL_NEW) and of a put; nil for a delete.
	Write(ctx context.Context, c intent.Call) (attr.Item, error)
	// Transact sends up to 100 operations that are done all or none. It gives no images.
	Transact(ctx context.Context, calls []intent.Call, token string) error
	// Get reads an item consistently; nil: there is none.
	Get(ctx context.Context, table string, key attr.Item) (attr.Item, error)
	// Read returns one page of a consistent Query (KeyCondition set) or Scan.
	Read(ctx context.Context, r Reading) (Page, error)
	// Skew is the server's clock minus ours as its latest answers tell it.
	Skew() time.Duration
}

// Reading asks for a page of a table: a Query where KeyCondition is set, else a Scan.
type Reading struct {
	Table        string
	KeyCondition string
	expr.Params
	After attr.Item // LastKey of the page before; nil: from the beginning
	Limit int       // items; 0: as DynamoDB pages, at 1 MB
}

// Page is what a Reading found, sidecars included.
type Page struct {
	Items   []attr.Item
	LastKey attr.Item // nil: there is no more
}
