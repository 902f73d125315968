package replica

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// feedNode is a node connected to a shelf.
type feedNode struct {
	*Replica

	st     *store.Store
	cloud  *shelf
	dir    string
	change func(*Config)
	closed bool
}

// openNode opens a node on the shelf, with its store and identity file in dir, continuing from what is there.
func openNode(t testing.TB, c *shelf, dir string, change func(*Config)) *feedNode {
	t.Helper()
	st, err := store.Open(filepath.Join(dir, "node.db"), store.Options{Node: "a", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Define(context.Background(), feedTables()...); err != nil {
		t.Fatal(err)
	}
	open := false
	defer func() {
		if !open {
			_ = st.Close() // as in a crash
		}
	}()
	cfg := Config{Store: st, Cloud: c, Dir: dir}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	open = true
	t.Cleanup(func() { _ = st.Close() })
	return &feedNode{Replica: r, st: st, cloud: c, dir: dir, change: change}
}

// opened returns a new node on an empty shelf. It does not run.
func opened(t testing.TB, change func(*Config)) (*shelf, *feedNode) {
	t.Helper()
	c := newShelf(t)
	return c, openNode(t, c, t.TempDir(), change)
}

// running returns a node that runs until the test ends.
func running(t testing.TB, change func(*Config)) (*shelf, *feedNode) {
	t.Helper()
	c, n := opened(t, change)
	t.Cleanup(n.run(t))
	return c, n
}

// run runs the node until stop is called, which waits for the end of the run.
func (n *feedNode) run(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}
}

// drained runs the node until nothing waits.
func (n *feedNode) drained(t testing.TB) {
	t.Helper()
	stop := n.run(t)
	defer stop()
	for range 600 {
		letPass(time.Second)
		if n.waitingNow(t) == 0 {
			return
		}
	}
	t.Errorf("%d writes still wait", n.waitingNow(t))
}

// online connects without running the loops of Run.
func (n *feedNode) online(t testing.TB) {
	t.Helper()
	if err := n.identity.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	n.net.Begin(n.clock.Now())
	n.net.RecordProbe("", n.clock.Now())
}

// letPass advances the bubble's time.
func letPass(d time.Duration) { <-time.After(d) }

// inTx runs an Update as the application, or to change the store from outside the node; inView runs a View.
func (n *feedNode) inTx(t testing.TB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := n.st.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func (n *feedNode) inView(t testing.TB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := n.st.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// put writes an item as the application does, and returns its sequence.
func (n *feedNode) put(t testing.TB, table string, item attr.Item) (seq uint64) {
	t.Helper()
	n.inTx(t, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: item})
		seq = tx.Seq()
		return err
	})
	return seq
}

func (n *feedNode) update(t testing.TB, table string, key attr.Item, update string, values attr.Item) {
	t.Helper()
	n.updateIf(t, table, key, update, "", values)
}

func (n *feedNode) updateIf(t testing.TB, table string, key attr.Item, update, condition string, values attr.Item) (seq uint64) {
	t.Helper()
	n.inTx(t, func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{
			Table: table, Key: key, Update: update, Condition: condition, Params: expr.Params{Values: values},
		})
		seq = tx.Seq()
		return err
	})
	return seq
}

func (n *feedNode) remove(t testing.TB, table string, key attr.Item) {
	t.Helper()
	n.inTx(t, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: table, Key: key})
		return err
	})
}

// together writes in one transaction, and returns its first sequence.
func (n *feedNode) together(t testing.TB, items ...store.WriteItem) (first uint64) {
	t.Helper()
	first = n.st.Seq() + 1
	n.inTx(t, func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: items}) })
	return first
}

// pair creates two teams in one transaction.
func (n *feedNode) pair(t testing.TB, one, other string) (first uint64) {
	t.Helper()
	return n.together(t, newTeam(one), newTeam(other))
}

// newTeam and oneMore return parts of a transaction.
func newTeam(id string) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: "teams", Item: team(id, 1)}}
}

func oneMore(id string) store.WriteItem {
	u := store.UpdateItem{Table: "teams", Key: teamKey(id), Update: "ADD n :one"}
	u.Values = attr.Item{":one": attr.Int(1)}
	return store.WriteItem{Update: &u}
}

// bump adds 1: applying it twice would show.
func (n *feedNode) bump(t testing.TB, id string) {
	t.Helper()
	n.update(t, "teams", teamKey(id), "ADD n :one", attr.Item{":one": attr.Int(1)})
}

func teamKey(id string) attr.Item { return attr.Item{"id": attr.S(id)} }

func team(id string, n int64) attr.Item { return attr.Item{"id": attr.S(id), "n": attr.Int(n)} }

func (n *feedNode) row(t testing.TB, table string, key attr.Item) (it attr.Item) {
	t.Helper()
	n.inView(t, func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, key)
		return err
	})
	return it
}

// sees requires that readers see this team; nil: none.
func (n *feedNode) sees(t testing.TB, id string, want attr.Item) {
	t.Helper()
	if got := n.row(t, "teams", teamKey(id)); (got == nil) != (want == nil) || !attr.EqualItems(got, want) {
		t.Errorf("%s: readers see %v, want %v", id, got, want)
	}
}

func (n *feedNode) status(t testing.TB) Status {
	t.Helper()
	st, err := n.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func (n *feedNode) waitingNow(t testing.TB) int64 {
	t.Helper()
	return n.status(t).Waiting
}

// waits requires that this many writes wait.
func (n *feedNode) waits(t testing.TB, want int64) {
	t.Helper()
	if got := n.waitingNow(t); got != want {
		t.Errorf("%d writes wait, want %d; recorded: %v", got, want, n.conflicts(t))
	}
}

// pendingOn lists the sequences that wait on a team, in order.
func (n *feedNode) pendingOn(t testing.TB, id string) (seqs []uint64) {
	t.Helper()
	n.inView(t, func(tx *store.Tx) error {
		it, err := n.box.Begin(tx).Load("teams", teamKey(id))
		if err != nil {
			return err
		}
		for _, at := range it.Remote.Pending {
			seqs = append(seqs, at.Seq)
		}
		return nil
	})
	return seqs
}

// changeWaiting changes what waits on an item, without the node noticing.
func (n *feedNode) changeWaiting(t testing.TB, table string, key attr.Item, change func(e *intent.Entry)) {
	t.Helper()
	n.withWaiting(t, table, key, func(w *outbox.Work, entries []*intent.Entry) error {
		for _, e := range entries {
			change(e)
			w.MarkChanged(e)
		}
		return nil
	})
}

// withWaiting works on what waits on an item, in a transaction.
func (n *feedNode) withWaiting(t testing.TB, table string, key attr.Item, do func(w *outbox.Work, entries []*intent.Entry) error) {
	t.Helper()
	n.inTx(t, func(tx *store.Tx) error {
		w := n.box.Begin(tx)
		it, err := w.Load(table, key)
		if err != nil {
			return err
		}
		entries, err := w.Entries(it)
		if err != nil {
			return err
		}
		if err := do(w, entries); err != nil {
			return err
		}
		return w.Finish()
	})
}

// conflicts returns the node's records.
func (n *feedNode) conflicts(t testing.TB) []*conflict.Record {
	t.Helper()
	list, _, err := n.Conflicts().List(t.Context(), conflict.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// recorded requires this many records and returns them.
func (n *feedNode) recorded(t testing.TB, want int) []*conflict.Record {
	t.Helper()
	got := n.conflicts(t)
	if len(got) != want {
		t.Errorf("%d are recorded, want %d: %v", len(got), want, got)
	}
	return got
}

// teams maps teams to their counts.
type teams map[string]int64

// cloudHas requires teams in the cloud to have these counts; a missing team has 0.
func (n *feedNode) cloudHas(t testing.TB, want teams) {
	t.Helper()
	for id, count := range want {
		if got := n.cloud.n(t, id); got != count {
			t.Errorf("%s is %d in the cloud, want %d; recorded: %v", id, got, count, n.conflicts(t))
		}
	}
}

// checkAllTables makes the node check the cloud's tables now.
func (n *feedNode) checkAllTables(t testing.TB) {
	t.Helper()
	if err := n.tables.CheckAll(t.Context(), true); err != nil {
		t.Error(err)
	}
}

// sentAs returns the sequence under which a node last wrote a team in the cloud.
func sentAs(it attr.Item) (seq uint64, ok bool) {
	mark, ok := it[intent.AttrMark+"a"]
	return intent.Whole(mark), ok
}

// renumbered requires a team to have been sent under a new sequence, not its original one.
func (n *feedNode) renumbered(t testing.TB, id string, seq uint64) {
	t.Helper()
	it := n.cloud.team(t, id)
	if got, _ := sentAs(it); got <= seq || got>>incarnationShift == seq>>incarnationShift {
		t.Errorf("%s was sent as %d, and had been given %d: %v, recorded: %v", id, got, seq, it, n.conflicts(t))
	}
}
