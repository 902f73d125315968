package simcloud

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// tokenMemory is how long a transaction's token is remembered.
const tokenMemory = 10 * time.Minute

// Options configures a cloud. The zero value is DynamoDB.
type Options struct {
	Now            func() time.Time // of the server; nil: the wall clock
	NoTransactions bool             // like ScyllaDB Alternator: Transact is refused as an unknown operation
	MaxItem        int              // larger items are refused, in bytes; 0: DynamoDB's 400 KB
	Forget         bool             // keep no log, for runs of millions of writes; Restore is then impossible
	OnEffect       func(*Effect)    // called for every effect, in order, with the cloud locked: it must not call the cloud
}

// Cloud is the service: requests take effect as soon as they arrive. Its methods may be called from any goroutine.
type Cloud struct {
	options Options
	exprs   *expr.Cache

	mu     sync.Mutex
	tables map[string]*table
	tokens map[string]token
	log    []Effect
	effect uint64
	txn    uint64
	units  float64
	calls  uint64
}

type token struct {
	request string
	at      time.Time
}

// Effect is one change of one item.
type Effect struct {
	N     uint64 // in the order of the cloud, from 1
	At    time.Time
	Table string
	Raw   string // the key as encoded by attr.AppendKey
	Key   attr.Item
	Op    store.Op
	Old   attr.Item // nil: none
	New   attr.Item // nil: deleted
	By    string    // the node, or another writer: "ttl", "restore", a foreign writer's name
	Mark  string    // of the requesting outbox entry, "<node> <number>"; empty: none
	Txn   uint64    // the same for all effects of one transaction; 0: a single write
}

// New returns a cloud without tables.
func New(o Options) *Cloud {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxItem == 0 {
		o.MaxItem = attr.MaxItemSize
	}
	return &Cloud{options: o, exprs: expr.NewCache(4096), tables: map[string]*table{}, tokens: map[string]token{}}
}

// Create creates tables; existing ones stay as they are.
func (c *Cloud) Create(specs ...store.TableSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range specs {
		if c.tables[specs[i].Name] == nil {
			c.tables[specs[i].Name] = c.newTable(specs[i])
		}
	}
}

// newTable returns a table with a new id. The caller holds the lock.
func (c *Cloud) newTable(spec store.TableSpec) *table {
	c.calls++
	return &table{spec: spec, id: fmt.Sprintf("%s-%d", spec.Name, c.calls), made: c.options.Now(), items: map[string]attr.Item{}}
}

// Recreate drops a table and creates it again, empty and with another id.
func (c *Cloud) Recreate(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tables[name] = c.newTable(c.tables[name].spec)
}

// Hide hides a table for a while, as if it were being created or in another account. Its items stay.
func (c *Cloud) Hide(name string, hidden bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tables[name]; t != nil {
		t.hidden = hidden
	}
}

// TableID returns the id of a table, which changes when it is created again or restored, or "" if there is no such table.
func (c *Cloud) TableID(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tables[name]; t != nil {
		return t.id
	}
	return ""
}

// Units returns the write units used so far, including those of refused writes.
func (c *Cloud) Units() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.units
}

// Log returns the effects after the given number, in order.
func (c *Cloud) Log(after uint64) []Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _ := slices.BinarySearchFunc(c.log, after+1, func(e Effect, n uint64) int { return cmp.Compare(e.N, n) })
	return c.log[at:len(c.log):len(c.log)]
}

// Items returns all items of a table in key order, including nodes' metadata attributes.
func (c *Cloud) Items(name string) []attr.Item {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	if t == nil {
		return nil
	}
	var out []attr.Item
	for _, key := range t.order {
		out = append(out, t.items[key])
	}
	return out
}

// Item returns one item, or nil if there is none.
func (c *Cloud) Item(name string, key attr.Item) attr.Item {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[name]
	if t == nil {
		return nil
	}
	k, err := t.requestKey(key)
	if err != nil {
		return nil
	}
	return t.items[k]
}

// apply makes a change and records it. The caller holds the lock.
func (c *Cloud) apply(t *table, key string, op store.Op, now attr.Item, by, mark string, txn uint64) {
	was := t.set(key, now)
	c.effect++
	e := Effect{
		N: c.effect, At: c.options.Now(), Table: t.spec.Name, Raw: key, Op: op, Old: was, New: now, By: by, Mark: mark, Txn: txn,
	}
	if e.Key = t.keyOf(was); was == nil {
		e.Key = t.keyOf(now)
	}
	if !c.options.Forget {
		c.log = append(c.log, e)
	}
	if c.options.OnEffect != nil {
		c.options.OnEffect(&e)
	}
}

// table returns the table with the given name. The caller holds the lock.
func (c *Cloud) table(name string) (*table, error) {
	if t := c.tables[name]; t != nil && !t.hidden {
		return t, nil
	}
	return nil, refuse(intent.NoTable, "Requested resource not found: Table: %s not found", name)
}
