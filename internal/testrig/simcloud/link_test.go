package simcloud_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

var _ remote.Cloud = (*simcloud.Link)(nil)

type world struct {
	*simcloud.Cloud
	net  *simcloud.Network
	link *simcloud.Link
}

func newWorld(seed uint64, o simcloud.Options) *world {
	w := &world{Cloud: simcloud.New(o)}
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	w.Create(store.TableSpec{Name: "plain", Key: key, TTL: "ttl"})
	w.Create(store.TableSpec{Name: "locks", Key: store.KeySpec{Partition: store.KeyAttr{Name: "lockKey", Type: store.KeyString}}})
	w.net = simcloud.NewNetwork(w.Cloud, simcloud.NewTimer(), seed)
	w.link = w.net.Link("n", time.Now, nil)
	return w
}

func key(pk string) attr.Item { return attr.Item{"pk": attr.S(pk)} }

// count returns a write whose effects can be counted.
func count() intent.Call {
	return intent.Call{
		Op: store.OpUpdate, Table: "plain", Key: key("c"), Update: "ADD n :one",
		Params: expr.Params{Values: attr.Item{":one": attr.Int(1)}},
	}
}

func (w *world) counted() int64 {
	n, _ := w.Item("plain", key("c"))["n"].Int()
	return n
}

func classOf(err error) intent.Class {
	if err == nil {
		return intent.Applied
	}
	if e, ok := errors.AsType[*intent.Error](err); ok {
		return e.Class
	}
	return 255
}

// The effects of each fault: how often the write takes effect by the deadline and in the end, and what the node is told.
func TestFaults(t *testing.T) {
	tests := []struct {
		fault     simcloud.Fault
		now, late int64
		class     intent.Class
		waits     bool // until its deadline
	}{
		{simcloud.None, 1, 1, intent.Applied, false},
		{simcloud.DropRequest, 0, 0, intent.Unknown, true},
		{simcloud.DropAnswer, 1, 1, intent.Unknown, true},
		{simcloud.LateCopy, 1, 2, intent.Applied, false},
		{simcloud.LateLost, 0, 1, intent.Unknown, true},
		{simcloud.Duplicate, 1, 2, intent.Applied, false},
		{simcloud.ResetMidBody, 1, 1, intent.Unknown, false},
		{simcloud.Throttle, 0, 0, intent.Throttled, false},
		{simcloud.ErrorApplied, 1, 1, intent.Unknown, false},
		{simcloud.ErrorDropped, 0, 0, intent.Unknown, false},
		{simcloud.TxnConflict, 0, 0, intent.Throttled, false},
		{simcloud.Partition, 0, 0, intent.Unknown, true},
		{simcloud.OneWayOut, 0, 0, intent.Unknown, true},
		{simcloud.OneWayIn, 1, 1, intent.Unknown, true},
		{simcloud.HalfOpen, 0, 0, intent.Unknown, true},
		{simcloud.NoDNS, 0, 0, intent.Offline, false},
		{simcloud.NoCredentials, 0, 0, intent.Credentials, false},
	}
	for _, test := range tests {
		t.Run(test.fault.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(1, simcloud.Options{})
				if test.fault >= simcloud.Partition {
					w.link.SetMode(test.fault)
				} else {
					w.link.Next(test.fault)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				began := time.Now()
				_, err := w.link.Write(ctx, count())
				if classOf(err) != test.class {
					t.Errorf("told %v, want %v", err, test.class)
				}
				if took := time.Since(began); test.waits != (took >= 2*time.Second) {
					t.Errorf("it took %v", took)
				}
				// A duplicate arrives within a moment, a late copy within minutes.
				if got := w.counted(); got != test.now && test.fault != simcloud.Duplicate && test.fault != simcloud.LateLost &&
					test.fault != simcloud.LateCopy {
					t.Errorf("%d effects, want %d", got, test.now)
				}
				<-time.After(15 * time.Minute)
				if got := w.counted(); got != test.late {
					t.Errorf("%d effects in the end, want %d", got, test.late)
				}
				if test.fault != simcloud.None && w.net.Fired()[test.fault.String()] != 1 {
					t.Errorf("counted: %v", w.net.Fired())
				}
			})
		})
	}
}

// A create that was answered is not done again: its copy would bring back what was deleted since.
func TestNoLateCopyOfAnAnsweredCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{})
		w.link.Next(simcloud.LateCopy)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		create := intent.Call{
			Op: store.OpPut, Table: "plain", Key: key("new"), Item: key("new"), Condition: "attribute_not_exists(#p)",
			Params: expr.Params{Names: map[string]string{"#p": "pk"}},
		}
		if _, err := w.link.Write(ctx, create); classOf(err) != intent.Unknown {
			t.Errorf("told %v, want no answer", err)
		}
		<-time.After(15 * time.Minute)
		if w.Item("plain", key("new")) == nil {
			t.Error("it never arrived")
		}
	})
}

// A refused request is not done by a copy, even if its condition would hold later: over TLS there is no copy.
func TestNoCopyOfWhatWasRefused(t *testing.T) {
	for _, f := range []simcloud.Fault{simcloud.LateCopy, simcloud.Duplicate} {
		t.Run(f.String(), func(t *testing.T) {
			refused := 0
			for seed := range uint64(30) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(seed, simcloud.Options{})
					w.link.Next(f)
					time.AfterFunc(15*time.Millisecond, func() { // the request has arrived, and a copy may be on its way
						_ = simcloud.Foreign{Cloud: w.Cloud, Name: "f"}.Put("plain", key("c"))
					})
					call := count()
					call.Condition = "attribute_exists(pk)"
					if _, err := w.link.Write(t.Context(), call); classOf(err) != intent.ConditionFailed {
						return
					}
					refused++
					<-time.After(15 * time.Minute)
					if w.counted() != 0 {
						t.Errorf("seed %d: it was refused, and has an effect", seed)
					}
				})
			}
			if refused == 0 {
				t.Error("none was refused")
			}
		})
	}
}

// A transaction that meets a busy item names it in the reasons, which has one for each call.
func TestBusyTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{})
		w.link.Next(simcloud.TxnConflict)
		second := count()
		second.Key = key("d")
		err := w.link.Transact(t.Context(), []intent.Call{count(), second}, "t1")
		e, ok := errors.AsType[*intent.Error](err)
		if !ok || e.Class != intent.Canceled || len(e.Reasons) != 2 || w.counted() != 0 {
			t.Fatalf("%+v", err)
		}
	})
}

// A token is remembered for ten minutes, and says nothing about another request.
func TestTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{})
		calls := []intent.Call{count()}
		for range 3 {
			if err := w.Transact("n", calls, "token"); err != nil {
				t.Fatal(err)
			}
		}
		other := count()
		other.Key = key("d")
		if err := w.Transact("n", []intent.Call{other}, "token"); classOf(err) != intent.Unknown {
			t.Errorf("the token with other bytes: %v", err)
		}
		if w.counted() != 1 {
			t.Errorf("%d effects", w.counted())
		}
		<-time.After(11 * time.Minute)
		if err := w.Transact("n", calls, "token"); err != nil || w.counted() != 2 {
			t.Errorf("after ten minutes: %v, %d effects", err, w.counted())
		}
	})
}

// A restored table has its earlier content, under another id, and reports the time of that.
func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{})
		f := simcloud.Foreign{Cloud: w.Cloud, Name: "f"}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(f.Put("plain", attr.Item{"pk": attr.S("a"), "v": attr.Int(1)}))
		must(f.Put("plain", attr.Item{"pk": attr.S("b")}))
		id, at := w.TableID("plain"), time.Now()
		<-time.After(time.Minute)
		must(f.Put("plain", attr.Item{"pk": attr.S("a"), "v": attr.Int(2)}))
		must(f.Delete("plain", key("b")))
		must(f.Put("plain", key("c")))
		w.Restore(at, "plain")
		if v, _ := w.Item("plain", key("a"))["v"].Int(); v != 1 || w.Item("plain", key("b")) == nil || w.Item("plain", key("c")) != nil {
			t.Errorf("restored to %v", w.Items("plain"))
		}
		state, err := w.link.Table(t.Context(), "plain")
		if err != nil || state.ID == id || !state.RestoredAt.Equal(at) {
			t.Errorf("%+v, %v", state, err)
		}
		w.Recreate("plain")
		if len(w.Items("plain")) != 0 {
			t.Error("a table made again has items")
		}
	})
}

func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{})
		f := simcloud.Foreign{Cloud: w.Cloud, Name: "f"}
		if err := f.Put("plain", attr.Item{"pk": attr.S("a"), "ttl": attr.Int(time.Now().Unix() + 60)}); err != nil {
			t.Fatal(err)
		}
		if n := w.Expire(time.Now()); n != 0 {
			t.Errorf("%d expired early", n)
		}
		if n := w.Expire(time.Now().Add(time.Minute)); n != 1 || w.Log(0)[1].By != "ttl" {
			t.Errorf("%d expired: %+v", n, w.Log(0))
		}
	})
}

// Effects carry the mark of the requesting entry, also for deletes.
func TestMarks(t *testing.T) {
	w := newWorld(1, simcloud.Options{})
	mark, err := attr.N("7.123456789")
	if err != nil {
		t.Fatal(err)
	}
	put := intent.Call{
		Op: store.OpPut, Table: "plain", Item: attr.Item{"pk": attr.S("a"), "_a_n": mark}, Condition: "attribute_not_exists(#m) OR #m < :mark",
		Params: expr.Params{Names: map[string]string{"#m": "_a_n"}, Values: attr.Item{":mark": mark}},
	}
	if _, err := w.Write("n", put); err != nil {
		t.Fatal(err)
	}
	_, err = w.Write("n", put)
	e, ok := errors.AsType[*intent.Error](err)
	if !ok || e.Class != intent.ConditionFailed || !attr.EqualItems(e.Old, put.Item) {
		t.Errorf("the same again: %v", err)
	}
	if log := w.Log(0); len(log) != 1 || log[0].Mark != "n 7.123456789" {
		t.Errorf("%+v", log)
	}
}

// Leases work over a link.
func TestLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{})
		manager := func(node string) *lease.Manager {
			m, err := lease.New(lease.Config{Table: w.net.Link(node, time.Now, nil).Locks("locks"), Node: node, Boot: "b1"})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		a, b := manager("a"), manager("b")
		first, err := a.Acquire(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Acquire(t.Context(), "k"); err == nil {
			t.Fatal("two have it")
		}
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		second, err := b.Acquire(t.Context(), "k")
		if err != nil || second.Fence() <= first.Fence() {
			t.Errorf("%v, fences %d and %d", err, first.Fence(), second.Fence())
		}
		if err := second.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	w := newWorld(1, simcloud.Options{Forget: true})
	mark, _ := attr.N("1.123456789")
	call := intent.Call{
		Op: store.OpUpdate, Table: "plain", Key: key("a"), Update: "SET v = :v, #n = if_not_exists(#n, :zero) + :one",
		Condition: "(attribute_exists(pk) OR attribute_not_exists(pk)) AND (attribute_not_exists(#m) OR #m < :mark)",
		Params: expr.Params{Names: map[string]string{"#m": "_a_n", "#n": "_n"}, Values: attr.Item{
			":v": attr.S("x"), ":mark": mark, ":zero": attr.Int(0), ":one": attr.Int(1),
		}},
	}
	for b.Loop() {
		if _, err := w.Write("n", call); err != nil {
			b.Fatal(err)
		}
	}
}

// A hidden or denied table is refused as such, keeps its items, and is back afterwards.
func TestTablesOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, simcloud.Options{MaxItem: 1000})
		refused := func(want intent.Class) {
			t.Helper()
			_, write := w.link.Write(t.Context(), count())
			transact := w.link.Transact(t.Context(), []intent.Call{count()}, "")
			_, get := w.link.Get(t.Context(), "plain", key("c"))
			_, read := w.link.Read(t.Context(), remote.Reading{Table: "plain"})
			_, table := w.link.Table(t.Context(), "plain")
			for i, err := range []error{write, transact, get, read, table} {
				if classOf(err) != want {
					t.Errorf("request %d was told %v", i, err)
				}
			}
		}
		refused(intent.Applied)
		w.Hide("plain", true)
		refused(intent.NoTable)
		w.Hide("plain", false)
		w.link.Deny("plain", true)
		refused(intent.Denied)
		w.link.Deny("plain", false)
		refused(intent.Applied)
		w.link.DenyReads("plain", true)
		_, write := w.link.Write(t.Context(), count())
		_, get := w.link.Get(t.Context(), "plain", key("c"))
		_, read := w.link.Read(t.Context(), remote.Reading{Table: "plain"})
		_, table := w.link.Table(t.Context(), "plain")
		if write != nil || classOf(get) != intent.Denied || classOf(read) != intent.Denied || table != nil {
			t.Errorf("without reads: %v, %v, %v, %v", write, get, read, table)
		}
		w.link.DenyReads("plain", false)
		refused(intent.Applied)
		if n := w.counted(); n != 7 {
			t.Errorf("%d of 7 writes", n)
		}
		large := attr.Item{"pk": attr.S("c"), "v": attr.B(make([]byte, 1000))}
		if _, err := w.link.Write(t.Context(), intent.Call{Op: store.OpPut, Table: "plain", Item: large}); classOf(err) != intent.TooLarge {
			t.Errorf("an item above the limit: %v", err)
		}
	})
}

// Like in the service, an update that only removes creates no item.
func TestRemovingFromNoItem(t *testing.T) {
	w := newWorld(1, simcloud.Options{})
	for _, update := range []string{"REMOVE a", "REMOVE a.b, c[0]"} {
		call := intent.Call{Op: store.OpUpdate, Table: "plain", Key: attr.Item{"pk": attr.S("x")}, Update: update}
		after, err := w.Write("n", call)
		if err != nil || after != nil {
			t.Errorf("%s: %v, %v", update, after, err)
		}
		if err := w.Transact("n", []intent.Call{call}, ""); err != nil {
			t.Errorf("%s in a transaction: %v", update, err)
		}
	}
	if items, effects := w.Items("plain"), w.Log(0); len(items)+len(effects) > 0 {
		t.Errorf("there are %v, by %v", items, effects)
	}
}

// Like in the service, an item that lacks a part of an index's key is accepted; one with a part of another type, or with parts that are
// too large together, is not.
func TestMultiAttributeIndex(t *testing.T) {
	w := newWorld(1, simcloud.Options{})
	attrs := func(kind store.KeyType, names ...string) (out []store.KeyAttr) {
		for _, name := range names {
			out = append(out, store.KeyAttr{Name: name, Type: kind})
		}
		return out
	}
	w.Create(store.TableSpec{
		Name: "multi", Key: store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}, Indexes: []store.IndexSpec{
			{Name: "many", Key: store.NewKeySpec(attrs(store.KeyString, "h1", "h2"), append(attrs(store.KeyString, "r1"), attrs(store.KeyNumber, "r2")...))},
		},
	})
	text := func(n int) attr.Value { return attr.S(strings.Repeat("x", n)) }
	for name, c := range map[string]struct {
		it   attr.Item
		want intent.Class
	}{
		"all parts":               {attr.Item{"h1": text(1000), "h2": text(1048), "r1": text(1000), "r2": attr.Int(1)}, intent.Applied},
		"without one":             {attr.Item{"h1": text(1), "r2": attr.Int(1)}, intent.Applied},
		"the second of a type":    {attr.Item{"h1": text(1), "h2": attr.Int(1)}, intent.Validation},
		"the last of a type":      {attr.Item{"r2": text(1)}, intent.Validation},
		"an empty part":           {attr.Item{"h2": text(0)}, intent.Validation},
		"a large partition key":   {attr.Item{"h1": text(1024), "h2": text(1025)}, intent.Validation},
		"a large sort key":        {attr.Item{"r1": text(1024), "r2": attr.Int(1)}, intent.Validation},
		"each part at most by it": {attr.Item{"h1": text(2048)}, intent.Applied},
	} {
		c.it["pk"] = attr.S(name)
		if _, err := w.Write("n", intent.Call{Op: store.OpPut, Table: "multi", Item: c.it}); classOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A read that does not ask for a consistent answer gets the table as it was some seconds ago.
func TestInconsistentReadIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcloud.New(simcloud.Options{})
		c.Create(store.TableSpec{Name: "plain", Key: store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}})
		f := simcloud.Foreign{Cloud: c, Name: "x"}
		put := func(key string, v int64) {
			t.Helper()
			if err := f.Put("plain", attr.Item{"pk": attr.S(key), "v": attr.Int(v)}); err != nil {
				t.Fatal(err)
			}
		}
		values := func(r remote.Reading) string {
			t.Helper()
			page, err := c.Read(r)
			if err != nil {
				t.Fatal(err)
			}
			out := ""
			for _, it := range page.Items {
				out += it["pk"].Str() + it["v"].Str() + " "
			}
			return out
		}
		put("a", 1)
		put("b", 1)
		<-time.After(simcloud.StaleBy)
		put("a", 2)
		put("c", 2)
		if err := f.Delete("plain", attr.Item{"pk": attr.S("b")}); err != nil {
			t.Fatal(err)
		}
		query := remote.Reading{Table: "plain", KeyCondition: "pk = :p", Params: expr.Params{Values: attr.Item{":p": attr.S("a")}}}
		scan := remote.Reading{Table: "plain"}
		if got := values(scan) + values(query); got != "a1 b1 a1 " {
			t.Errorf("stale: %s", got)
		}
		scan.Consistent, query.Consistent = true, true
		if got := values(scan) + values(query); got != "a2 c2 a2 " {
			t.Errorf("consistent: %s", got)
		}
		<-time.After(simcloud.StaleBy)
		scan.Consistent = false
		if got := values(scan); got != "a2 c2 " {
			t.Errorf("later: %s", got)
		}
	})
}
