package remote

import (
	"context"
	"time"

	"github.com/touchline/touchline/store"
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

// What a Cloud may tell beside what every Cloud does. One that has none of it is taken to have transactions, to have told
// its time when it was first connected, and to cost nothing.
type (
	// Prober is a Cloud that can be asked whether it has transactions.
	Prober interface {
		// Transactions asks; an error means that nobody has said.
		Transactions(ctx context.Context) (bool, error)
	}
	// Timekeeper is a Cloud that knows whether a server has told its time since the start.
	Timekeeper interface {
		// Synced is false before the first believable answer.
		Synced() bool
	}
	// Meter is a Cloud that counts what it is asked and what that costs.
	Meter interface {
		// Usage only grows.
		Usage() Usage
	}
)

// Usage counts what the cloud was asked since the start, and what it said that this costs.
type Usage struct {
	Requests   int64   `json:"requests"`
	WriteUnits float64 `json:"writeUnits"` // as DynamoDB counts them, indexes included; 0 where the server counts none
	ReadUnits  float64 `json:"readUnits"`
}

// Catalogue is what a Cloud may tell of its tables beside their items. A Cloud that has it is asked at each connect, now
// and then, and before what is absent there is deleted here: a table that was made again or restored has lost writes.
type Catalogue interface {
	// Table returns which table has a name just now. Errors are those of a Cloud; intent.NoTable: there is none.
	Table(ctx context.Context, name string) (TableState, error)
}

// TableState is which table a name stands for.
type TableState struct {
	ID         string    // another one when the table is made again, or restored
	CreatedAt  time.Time // zero: nobody knows
	RestoredAt time.Time // the instant that it was restored to; zero: it was not

	Key store.KeySpec // zero: nobody knows
}
