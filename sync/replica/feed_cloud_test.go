package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// shelf is an in-process cloud: a store called like DynamoDB. If fail is set it is called before each request and may answer in its
// place; after is called afterwards and may lose the answer.
type shelf struct {
	st   *store.Store
	skew time.Duration

	mu    sync.Mutex
	fail  func(op, table string) error
	after func(op, table string) error
	state map[string]remote.TableState
	shown bool // an answer has shown its time
	asked []string
	made  int // how many tables replaced the first teams table
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	st, err := store.OpenMemory(store.Options{Node: "cloud", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c := &shelf{st: st, state: map[string]remote.TableState{}}
	for _, spec := range append(feedTables(), syncSpec()) {
		c.define(t, spec)
	}
	return c
}

func syncSpec() store.TableSpec {
	return store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyLocal}
}

func (c *shelf) define(t testing.TB, spec store.TableSpec) {
	t.Helper()
	spec.TTL, spec.Policy, spec.Lock = "", store.PolicyLocal, ""
	if err := c.st.Define(context.Background(), spec); err != nil {
		t.Fatal(err)
	}
	c.state[spec.Name] = remote.TableState{ID: spec.Name + "-1"}
}

// feedTables are the tables of these tests.
func feedTables() []store.TableSpec {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	return []store.TableSpec{
		{Name: "teams", Key: store.KeySpec{Partition: str("id")}, Policy: store.PolicyIntent},
		{Name: "follows", Key: store.KeySpec{Partition: str("match"), Sort: str("user")}, Policy: store.PolicyIntent},
		{Name: "prefs", Key: store.KeySpec{Partition: str("id")}, Policy: store.PolicyNewest},
		{Name: "states", Key: store.KeySpec{Partition: str("match")}, Policy: store.PolicyState, Lock: "match:{match}", TTL: "ttl"},
		{Name: "leagues", Key: store.KeySpec{Partition: str("id")}, Policy: store.PolicyIntent},
	}
}

func (c *shelf) before(op, table string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, op+" "+table)
	if c.fail != nil {
		if err := c.fail(op, table); err != nil {
			return err
		}
	}
	c.shown = true
	return nil
}

func (c *shelf) behind(op, table string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.after != nil {
		return c.after(op, table)
	}
	return nil
}

func (c *shelf) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// requests returns the requests so far, in order.
func (c *shelf) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// count returns how often something was requested.
func (c *shelf) count(what string) (n int) {
	for _, a := range c.requests() {
		if a == what {
			n++
		}
	}
	return n
}

func (c *shelf) Write(ctx context.Context, call intent.Call) (now attr.Item, err error) {
	if err := c.before("write", call.Table); err != nil {
		return nil, err
	}
	err = c.st.Update(context.Background(), func(tx *store.Tx) error {
		now, err = applyCall(tx, &call)
		return err
	})
	if err != nil {
		return nil, shelfError(err)
	}
	return now, c.behind("write", call.Table)
}

func applyCall(tx *store.Tx, call *intent.Call) (attr.Item, error) {
	switch call.Op {
	case store.OpPut:
		_, err := tx.Put(store.PutItem{Table: call.Table, Item: call.Item, Condition: call.Condition, Params: call.Params})
		return call.Item, err
	case store.OpDelete:
		_, err := tx.Delete(store.DeleteItem{Table: call.Table, Key: call.Key, Condition: call.Condition, Params: call.Params})
		return nil, err
	default:
		im, err := tx.Update(store.UpdateItem{
			Table: call.Table, Key: call.Key, Update: call.Update, Condition: call.Condition, Params: call.Params,
		})
		return im.New, err
	}
}

func shelfError(err error) error {
	if e, ok := errors.AsType[*store.ConditionFailedError](err); ok {
		return &intent.Error{Class: intent.ConditionFailed, Old: e.Old, Err: err}
	}
	if e, ok := errors.AsType[*store.TransactionCanceledError](err); ok {
		out := &intent.Error{Class: intent.Canceled, Err: err}
		for _, r := range e.Reasons {
			class := intent.Applied
			if r.Code == store.ReasonConditionFailed {
				class = intent.ConditionFailed
			}
			out.Reasons = append(out.Reasons, intent.Reason{Class: class, Old: r.Item, Message: r.Message})
		}
		return out
	}
	if fault.Is(err, fault.NotFound) {
		return &intent.Error{Class: intent.NoTable, Err: err}
	}
	return &intent.Error{Class: intent.Validation, Err: err}
}

func (c *shelf) Transact(ctx context.Context, calls []intent.Call, token string) error {
	op := "transact"
	if len(calls) == 2 && calls[1].Table == "touchline-sync" { // a create and its proof
		op = "write"
	}
	if err := c.before(op, calls[0].Table); err != nil {
		return err
	}
	var tw store.TransactWrite
	for _, call := range calls {
		var it store.WriteItem
		switch call.Op {
		case store.OpPut:
			it.Put = &store.PutItem{Table: call.Table, Item: call.Item, Condition: call.Condition, Params: call.Params}
		case store.OpDelete:
			it.Delete = &store.DeleteItem{Table: call.Table, Key: call.Key, Condition: call.Condition, Params: call.Params}
		case store.OpUpdate:
			it.Update = &store.UpdateItem{Table: call.Table, Key: call.Key, Update: call.Update, Condition: call.Condition, Params: call.Params}
		default:
			it.Check = &store.ConditionCheck{Table: call.Table, Key: call.Key, Condition: call.Condition, Params: call.Params}
		}
		tw.Items = append(tw.Items, it)
	}
	err := c.st.Update(context.Background(), func(tx *store.Tx) error { return tx.TransactWrite(tw) })
	if err != nil {
		return shelfError(err)
	}
	return c.behind(op, calls[0].Table)
}

func (c *shelf) Get(ctx context.Context, table string, key attr.Item) (it attr.Item, err error) {
	if err := c.before("get", table); err != nil {
		return nil, err
	}
	if it, err = c.item(table, key); err != nil {
		return nil, shelfError(err)
	}
	return it, c.behind("get", table)
}

// item reads an item of the cloud, without counting as a request.
func (c *shelf) item(table string, key attr.Item) (it attr.Item, err error) {
	err = c.st.View(context.Background(), func(tx *store.Tx) error {
		it, err = tx.Get(table, key)
		return err
	})
	return it, err
}

func (c *shelf) Read(ctx context.Context, q remote.Reading) (page remote.Page, err error) {
	if err := c.before("read", q.Table); err != nil {
		return page, err
	}
	err = c.st.View(context.Background(), func(tx *store.Tx) error {
		var got store.Page
		if q.KeyCondition != "" {
			got, err = tx.Query(store.Query{Table: q.Table, KeyCondition: q.KeyCondition, Params: q.Params, StartKey: q.After, Limit: q.Limit})
		} else {
			got, err = tx.Scan(store.Scan{Table: q.Table, StartKey: q.After, Limit: q.Limit})
		}
		page = remote.Page{Items: got.Items, LastKey: got.LastKey}
		return err
	})
	if err != nil {
		return remote.Page{}, shelfError(err)
	}
	return page, c.behind("read", q.Table)
}

func (c *shelf) Skew() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skew
}

// Transactions implements remote.Cloud.
func (*shelf) Transactions(context.Context) (bool, error) { return true, nil }

// KnowsServerTime implements remote.Cloud.
func (c *shelf) KnowsServerTime() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// Usage implements remote.Cloud.
func (*shelf) Usage() remote.Usage { return remote.Usage{} }

// Table implements remote.Cloud.
func (c *shelf) Table(ctx context.Context, name string) (remote.TableState, error) {
	if err := c.before("table", name); err != nil {
		return remote.TableState{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state[name], nil
}

// foreign writes a whole item as a foreign writer; a nil item deletes the key's.
func (c *shelf) foreign(t testing.TB, table string, key, item attr.Item) {
	t.Helper()
	c.inTx(t, func(tx *store.Tx) error {
		if item == nil {
			_, err := tx.Delete(store.DeleteItem{Table: table, Key: key})
			return err
		}
		_, err := tx.Put(store.PutItem{Table: table, Item: item})
		return err
	})
}

// away makes every request fail as if there were no network.
func away(string, string) error {
	return &intent.Error{Class: intent.Offline, Err: errors.New("no route")}
}

// inTx runs a transaction of a foreign writer.
func (c *shelf) inTx(t testing.TB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := c.st.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// refuse makes requests fail with an error.
func (c *shelf) refuse(class intent.Class, when func(op, table string) bool) {
	c.set(func() { c.fail = failing(class, when) })
}

// loseAnswers makes requests succeed without an answer.
func (c *shelf) loseAnswers(when func(op, table string) bool) {
	c.set(func() { c.after = failing(intent.Unknown, when) })
}

func failing(class intent.Class, when func(op, table string) bool) func(op, table string) error {
	return func(op, table string) error {
		if !when(op, table) {
			return nil
		}
		return &intent.Error{Class: class, Err: errors.New("a test")}
	}
}

// heal makes every request succeed and be answered.
func (c *shelf) heal() { c.set(func() { c.fail, c.after = nil, nil }) }

// unlocked runs do without the shelf's lock, which is held while a test's fail and after run.
func (c *shelf) unlocked(do func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	do()
}

// team returns a team in the cloud, sidecar included.
func (c *shelf) team(t testing.TB, id string) attr.Item {
	t.Helper()
	it, err := c.item("teams", teamKey(id))
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// n returns a team's count.
func (c *shelf) n(t testing.TB, id string) int64 {
	t.Helper()
	n, _ := c.team(t, id)["n"].Int()
	return n
}

// nodeRow returns the node's row in the cloud.
func (c *shelf) nodeRow(t testing.TB) attr.Item {
	t.Helper()
	it, err := c.item("touchline-sync", nodeKey("a"))
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// backup is the content of teams at a time of the server.
type backup struct {
	at    time.Time
	teams []attr.Item
}

// backUp saves teams.
func (c *shelf) backUp(t testing.TB) backup {
	t.Helper()
	b := backup{at: time.Now().Add(c.Skew())}
	err := c.st.View(context.Background(), func(tx *store.Tx) error {
		page, err := tx.Scan(store.Scan{Table: "teams"})
		b.teams = page.Items
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// restoreTo replaces teams by a backup, in another table of the same name, as a restore does. An empty backup with a zero time recreates
// the table.
func (c *shelf) restoreTo(t testing.TB, b backup) {
	t.Helper()
	c.replaceTeams(t, b)
	c.set(func() {
		c.made++
		c.state["teams"] = remote.TableState{ID: fmt.Sprint("teams-", 1+c.made), CreatedAt: time.Now(), RestoredAt: b.at}
	})
}

// makeAnew replaces teams by another, empty table.
func (c *shelf) makeAnew(t testing.TB) {
	t.Helper()
	c.restoreTo(t, backup{})
}

// replaceTeams replaces the content of teams by a backup, in the same table.
func (c *shelf) replaceTeams(t testing.TB, b backup) {
	t.Helper()
	for _, it := range c.backUp(t).teams {
		c.foreign(t, "teams", attr.Item{"id": it["id"]}, nil)
	}
	for _, it := range b.teams {
		c.foreign(t, "teams", nil, it)
	}
}
