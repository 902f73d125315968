package replica_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// judged is a node whose handler of table data records the cases it is asked about, and what it reads of the rows beside them.
type judged struct {
	*node
	asked  []conflict.MergeCase
	beside []attr.Item // rows for the handler to read, and the items it has read
	read   []attr.Item
}

func newJudged(t *testing.T) *judged {
	j := &judged{}
	j.node = newNode(t, newCloud(), "a", func(c *replica.Config) {
		c.Merge = map[string]conflict.MergeFunc{"data": func(m conflict.MergeCase) ([]store.WriteItem, bool) {
			j.asked, j.read = append(j.asked, m), nil
			for _, k := range j.beside {
				it, err := m.Get("other", k)
				if err != nil {
					t.Error(err)
				}
				j.read = append(j.read, it)
			}
			return nil, true
		}}
	}).run()
	return j
}

// during makes a transaction and runs others while its first request is in flight: that request is lost, or arrives after them.
func (j *judged) during(lost bool, items []store.WriteItem, others func()) (reads int) {
	j.t.Helper()
	left, gate := make(chan struct{}, 1), make(chan struct{})
	j.conn.setFault(func(n int, _ []intent.Call) fault {
		f := fault{wait: gate}
		if n > 1 {
			return fault{}
		}
		if left <- struct{}{}; lost {
			f.before = unknown()
		}
		return f
	})
	j.asked = nil
	seq := j.update(func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: items}) })
	<-left
	j.conn.reads(nil)
	others()
	close(gate)
	j.decided(seq)
	return j.conn.reads(nil)
}

// made lists the rows of a transaction: those that it writes and those that it has conditions on.
func (j *judged) made(written, checked []attr.Item) {
	j.t.Helper()
	j.decided(j.update(func(tx *store.Tx) error {
		for i, k := range slices.Concat(written, checked) {
			table, it := "data", Item(k["pk"].Str(), k["sk"].Str(), "n", 1)
			if i >= len(written) {
				table, it = "other", Item(k["pk"].Str(), k["sk"].Str(), "closed", "no")
			}
			if _, err := tx.Put(store.PutItem{Table: table, Item: it}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// decided waits until a write is applied or refused.
func (j *judged) decided(seq uint64) {
	j.t.Helper()
	ctx, cancel := context.WithTimeout(j.t.Context(), hang.Limit(time.Minute))
	defer cancel()
	if err := j.r.Wait(ctx, seq); err != nil && !errors.As(err, new(*replica.SettledError)) {
		j.t.Fatal(err)
	}
}

// set changes an attribute of a row in the cloud, as another node does.
func (j *judged) set(table string, k attr.Item, name string, v attr.Value) {
	j.t.Helper()
	c := intent.Call{Op: store.OpUpdate, Table: table, Key: k, Update: "SET " + name + " = :v"}
	c.Values = attr.Item{":v": v}
	if _, err := j.conn.cloud.Write("b", c); err != nil {
		j.t.Fatal(err)
	}
}

func (j *judged) there(table string, k attr.Item) attr.Item {
	it, _ := intent.Split(j.conn.cloud.Item(table, k))
	return it
}

func mine(k attr.Item, condition string) store.WriteItem {
	u := &store.UpdateItem{Table: "data", Key: k, Update: "SET mine = :m", Condition: condition}
	u.Values = attr.Item{":m": attr.Int(1)}
	return store.WriteItem{Update: u}
}

func open(k attr.Item) store.WriteItem {
	c := &store.ConditionCheck{Table: "other", Key: k, Condition: "closed = :no"}
	c.Values = attr.Item{":no": attr.S("no")}
	return store.WriteItem{Check: c}
}

// The handler of a refused transaction gets all of its rows as the cloud has them, even those that the refusal did not show, and the rows
// as seen here when the writes were made.
func TestRowsOfARefusedTransaction(t *testing.T) { synctest.Test(t, rowsOfARefusedTransaction) }

func rowsOfARefusedTransaction(t *testing.T) {
	j := newJudged(t)
	theirs := attr.S("theirs")
	for i, c := range []struct {
		name   string
		second string // condition of the second write
		lost   bool
		failed error // of the first read
		others func(a, b, c attr.Item)
		reads  int
	}{
		{"one write is refused", "", false, nil, func(a, b, c attr.Item) {
			j.set("data", a, "n", attr.Int(2))
			j.set("data", b, "seen", theirs)
			j.set("other", c, "seen", theirs)
		}, 2},
		{"all writes are refused", "n = :m", false, nil, func(a, b, _ attr.Item) {
			j.set("data", a, "n", attr.Int(2))
			j.set("data", b, "n", attr.Int(3))
		}, 1},
		{"a condition on another row", "", false, nil, func(_, b, c attr.Item) {
			j.set("other", c, "closed", attr.S("yes"))
			j.set("data", b, "seen", theirs)
		}, 3},
		{"that row is gone", "", false, nil, func(_, b, c attr.Item) {
			if _, err := j.conn.cloud.Write("b", intent.Call{Op: store.OpDelete, Table: "other", Key: c}); err != nil {
				t.Fatal(err)
			}
			j.set("data", b, "seen", theirs)
		}, 3},
		{"no answer, then refused", "", true, nil, func(a, b, c attr.Item) {
			j.set("data", a, "n", attr.Int(2))
			j.set("data", b, "seen", theirs)
			j.set("other", c, "seen", theirs)
		}, 6}, // three are read with the proof
		{"they cannot be read", "", false, offline(), func(a, b, c attr.Item) {
			j.set("data", a, "n", attr.Int(2))
			j.set("data", b, "seen", theirs)
			j.set("other", c, "seen", theirs)
		}, -1},
	} {
		p := fmt.Sprint("p", i)
		ka, kb, kc := key(p, "a"), key(p, "b"), key(p, "c")
		j.made([]attr.Item{ka, kb}, []attr.Item{kc})
		j.beside = []attr.Item{kc}
		reads := j.during(c.lost, []store.WriteItem{mine(ka, "n = :m"), mine(kb, c.second), open(kc)}, func() {
			synctest.Wait() // reads of the background end first: one that saw what others do now would be a newer base to write on
			c.others(ka, kb, kc)
			j.conn.reads(c.failed)
		})
		if len(j.asked) != 1 {
			t.Fatalf("%s: the handler is asked %d times", c.name, len(j.asked))
		}
		for n, k := range []attr.Item{ka, kb} {
			it := j.asked[0].Items[n]
			if !attr.EqualItems(it.Base, Item(p, k["sk"].Str(), "n", 1)) || !attr.EqualItems(it.View, Item(p, k["sk"].Str(), "n", 1, "mine", 1)) {
				t.Errorf("%s: written on %v as %v", c.name, it.Base, it.View)
			}
			if there := j.there("data", k); c.failed == nil && !attr.EqualItems(it.Remote, there) {
				t.Errorf("%s: the handler sees %v, the cloud has %v", c.name, it.Remote, there)
			}
		}
		if there := j.there("other", kc); c.failed == nil && !attr.EqualItems(j.read[0], there) {
			t.Errorf("%s: beside the writes the handler reads %v, the cloud has %v", c.name, j.read[0], there)
		}
		if c.reads >= 0 && reads != c.reads {
			t.Errorf("%s: %d items are read, want %d", c.name, reads, c.reads)
		}
		j.until("all is read", func() bool { return attr.EqualItems(j.get("data", kb), j.there("data", kb)) })
		j.same("data")
	}
}

// drawn is a transaction and what others do to its rows while it is in flight.
type drawn struct {
	conditions []string // condition of each write, empty: none
	written    []string // attribute that others change, for each write; empty: none
	checked    []string // the same for the rows that it has conditions on
	lost       bool
}

// Whatever others have done to the rows of a refused transaction, its handler gets the present rows, and readers see them at once.
func TestRowsOfAnyRefusedTransaction(t *testing.T) {
	j, n := newJudged(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, of ...string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(of), 3, 3).Draw(rt, name)
		}
		d := drawn{conditions: pick("conditions", "", "n = :m"), written: pick("written", "", "seen", "n"), checked: pick("checked", "", "seen", "closed")}
		d.lost = rapid.IntRange(0, 9).Draw(rt, "lost, in one of ten") == 9
		d.conditions = d.conditions[:rapid.IntRange(1, 3).Draw(rt, "writes")]
		d.checked = d.checked[:rapid.IntRange(0, 3).Draw(rt, "checks")]
		n++
		if wrong := j.tries(fmt.Sprint("p", n), &d); wrong != "" {
			rt.Fatalf("%+v: %s", d, wrong)
		}
	})
}

func (j *judged) tries(p string, d *drawn) (wrong string) {
	j.beside = nil
	var items []store.WriteItem
	var keys []attr.Item
	refused := slices.Contains(d.checked, "closed")
	for i, condition := range d.conditions {
		k := key(p, fmt.Sprint("w", i))
		keys, items = append(keys, k), append(items, mine(k, condition))
		refused = refused || condition != "" && d.written[i] == "n"
	}
	for i := range d.checked {
		k := key(p, fmt.Sprint("c", i))
		j.beside, items = append(j.beside, k), append(items, open(k))
	}
	j.made(keys, j.beside)
	j.during(d.lost, items, func() {
		for i, k := range keys {
			if d.written[i] != "" {
				j.set("data", k, d.written[i], attr.Int(9))
			}
		}
		for i, k := range j.beside {
			if d.checked[i] != "" {
				j.set("other", k, d.checked[i], attr.S("yes"))
			}
		}
	})
	if asked := len(j.asked); !refused || asked != 1 || len(items) == 1 {
		if refused != (asked == 1) {
			wrong = fmt.Sprintf("refused %t, the handler is asked %d times", refused, asked)
		}
		return wrong
	}
	for i, k := range keys {
		there := j.there("data", k)
		it := j.asked[0].Items[i]
		if !attr.EqualItems(it.Remote, there) || it.View["mine"].IsZero() || !it.View["seen"].IsZero() {
			return fmt.Sprintf("%v: the handler sees %+v, the cloud has %v", k, it, there)
		}
		if got := j.get("data", k); !attr.EqualItems(got, there) {
			return fmt.Sprintf("readers see %v, the cloud has %v", got, there)
		}
	}
	for i, k := range j.beside {
		if there := j.there("other", k); !attr.EqualItems(j.read[i], there) {
			return fmt.Sprintf("beside the writes the handler reads %v, the cloud has %v", j.read[i], there)
		}
	}
	return ""
}
