package feed

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// An item deleted in the cloud is removed here only if its base is older than the pass, nothing waits on it, and a read of its own does
// not find it (schedule 11).
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t, Rule{Table: "teams"})
		for _, id := range []string{"gone", "waits", "back", "kept"} {
			n.foreign("teams", team(id, 1))
		}
		n.next()
		letPass(time.Second)
		for _, id := range []string{"gone", "waits", "back"} {
			n.foreignDelete("teams", teamKey(id))
		}
		n.bump("waits")
		n.cloud.behind = func() {
			n.foreign("teams", team("back", 2))
			n.foreign("teams", team("new", 1))
			n.readNow("teams", teamKey("new")) // acknowledged
		}
		n.next()
		for id, want := range map[string]attr.Item{
			"gone": nil, "waits": team("waits", 2), "back": team("back", 2), "kept": team("kept", 1), "new": team("new", 1),
		} {
			n.sees(id, want)
		}
	})
}

// another is a table that turns out to have been replaced when it is checked.
type another struct {
	unchanged

	known bool
}

func (a *another) Check(context.Context, string) error {
	a.known = true
	return nil
}

func (a *another) KeepsAbsent(string, time.Time) bool { return a.known }

// An item absent from a table is deleted here only if the table is still the one that had it: that is checked first.
func TestAbsentFromAnotherTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t, Rule{Table: "teams"})
		n.Tables = &another{}
		n.foreign("teams", team("x", 1))
		n.next()
		letPass(time.Second)
		n.foreignDelete("teams", teamKey("x"))
		n.next()
		n.sees("x", team("x", 1))
	})
}

// A pass longer than a round continues in the next one and, after a restart, after the last page adopted. What the table no longer has
// is found by a pass from the beginning.
func TestLongPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		const page, items = 200, 5*200 + 7
		for i := range items {
			n.foreign("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		if got, _ := n.read("m", 2); got != 2*page {
			t.Fatalf("%d items", got)
		}
		n.again()
		n.foreignDelete("follows", follow("m", "00001"))
		n.foreignDelete("follows", follow("m", fmt.Sprintf("%05d", items-1)))
		if got, _ := n.read("m", 10); got != items-1-2*page {
			t.Fatalf("after the restart %d items", got)
		}
		if n.row("follows", follow("m", "00001")) == nil {
			t.Error("a pass begun in another run shows what is absent")
		}
		letPass(time.Second)
		var key string
		for range 3 { // in pieces, within one run
			_, key = n.read("m", 2)
		}
		if n.row("follows", follow("m", "00001")) != nil {
			t.Error("the deleted item is still here")
		}
		if n.row("follows", follow("m", "00002")) == nil {
			t.Error("an existing item is not here")
		}
		n.inView(func(tx *store.Tx) error {
			at, err := tx.Side(sideCheckpoint).Get([]byte(key))
			if at != nil {
				t.Errorf("the position is still stored: %s", at)
			}
			return err
		})
	})
}

// A position is stored together with what was read before it, or not at all.
func TestCheckpointWithItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		for i := range n.Page + 1 {
			n.foreign("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		died := func() (died any) {
			defer func() { died = recover() }()
			n.Failpoint = func(string) { panic("dies") }
			n.read("m", 5)
			return nil
		}
		if died() == nil {
			t.Fatal("the feed did not reach its failpoint")
		}
		n.again()
		if got, _ := n.read("m", 5); got != n.Page+1 {
			t.Errorf("%d items", got)
		}
	})
}

// A rule with more partitions than a round has pages reaches all of them.
func TestManyPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var matches []attr.Value
		n := newReader(t, Rule{Table: "follows", Partitions: func(*store.Tx) ([]attr.Value, error) { return matches, nil }})
		for i := range 2*roundPages + 50 {
			m := fmt.Sprintf("m%04d", i)
			matches = append(matches, attr.S(m))
			n.foreign("follows", follow(m, "u"))
		}
		for range 3 {
			n.next()
		}
		for _, m := range matches {
			if n.row("follows", follow(m.Str(), "u")) == nil {
				t.Fatalf("%s was not read in three rounds", m.Str())
			}
		}
	})
}

// If a base was set since a read began, the item is read again, whichever looks newer; a tombstone counts as a base.
func TestOvertakenRead(t *testing.T) {
	for _, gone := range []bool{false, true} {
		n := newReader(t)
		n.foreign("teams", team("x", 1))
		n.readNow("teams", teamKey("x"))
		read := n.Box.Reads.Start()
		want := team("x", 2)
		if gone {
			n.foreignDelete("teams", teamKey("x"))
			want = nil
		} else {
			n.foreign("teams", want)
		}
		n.readNow("teams", teamKey("x"))
		out, err := n.adopt(t.Context(), []image{
			{table: "teams", key: teamKey("x"), item: team("x", 7), read: read, began: n.serverNow()},
			{table: "teams", key: teamKey("y"), item: team("y", 7), read: read, began: n.serverNow()},
		}, nil)
		read.End()
		if err != nil || len(out.again) != 1 || n.row("teams", teamKey("y")) == nil {
			t.Errorf("%+v, %v", out, err)
		}
		n.sees("x", want)
	}
}

// Rows that are not valid items of the table are skipped; the others are adopted.
func TestForeignRows(t *testing.T) {
	n := newReader(t)
	p := newPass(n.Box.Spec("teams"), attr.Value{}, nil)
	spec := *p.spec
	spec.Key.Partition.Type = store.KeyNumber // the node's idea of the key
	p.spec = &spec
	n.foreign("teams", team("x", 1))
	budget := 10
	if _, err := n.continuePass(t.Context(), p, &budget); err != nil {
		t.Fatal(err)
	}
	n.sees("x", nil)
	read := n.Box.Reads.Start()
	defer read.End()
	out, err := n.adopt(t.Context(), []image{
		{table: "teams", key: attr.Item{"id": attr.S("")}, item: team("", 1), read: read},
		{table: "nowhere", key: teamKey("x"), item: team("x", 1), read: read},
		{table: "teams", key: teamKey("y"), item: team("y", 1), read: read},
	}, nil)
	if err != nil || out.refused != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	n.sees("y", team("y", 1))
}

func TestTombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		for _, id := range []string{"x", "y"} {
			item := team(id, 1)
			item["_c"] = attr.S("b.1.5")
			n.foreign("teams", item)
			n.readNow("teams", teamKey(id))
			n.foreignDelete("teams", teamKey(id))
			n.readNow("teams", teamKey(id))
		}
		n.foreign("teams", team("y", 2)) // created again
		n.readNow("teams", teamKey("y"))
		tomb := func(id string) (g outbox.Gone, there bool) {
			n.inView(func(tx *store.Tx) error {
				it, err := outbox.ItemOf(tx, n.Box.Spec("teams"), teamKey(id))
				if err != nil {
					return err
				}
				sh, err := outbox.RemoteOf(tx, it)
				if sh != nil {
					g, there = sh.Gone, true
				}
				return err
			})
			return g, there
		}
		if g, _ := tomb("x"); g.Life != "b.1.5" || g.At.IsZero() {
			t.Errorf("the tombstone is %+v", g)
		}
		letPass(tombstoneFor - time.Hour)
		n.forgetTombstones(t.Context())
		if g, _ := tomb("x"); g == (outbox.Gone{}) {
			t.Error("the tombstone is gone within a day")
		}
		letPass(2 * time.Hour)
		n.forgetTombstones(t.Context())
		if _, there := tomb("x"); there {
			t.Error("the tombstone is kept for ever")
		}
		if g, there := tomb("y"); !there || g != (outbox.Gone{}) || n.row("teams", teamKey("y")) == nil {
			t.Errorf("tombstone of the recreated item: %+v, %v", g, there)
		}
	})
}

// Subscriptions are bounded: the least recently requested one goes.
func TestSubscriptionsBounded(t *testing.T) {
	var f Feed
	now := time.Unix(1_800_000_000, 0)
	spec := tables()[1]
	for i := range subscribedMost + 3 {
		f.subscribe(newPass(&spec, attr.S("m"), fmt.Appendf(nil, "%05d", i)), now.Add(time.Duration(i)*time.Second))
	}
	if len(f.subs) != subscribedMost {
		t.Errorf("%d subscriptions", len(f.subs))
	}
	due := f.dueSubscriptions(now.Add(subscribedEvery + 10*time.Second))
	if len(due) != 8 || due[0].pass.key != "follows\x0000003" {
		t.Errorf("%d due, the first %q", len(due), due[0].pass.key)
	}
	if !slices.IsSortedFunc(due, func(a, b *subscription) int { return a.next.Compare(b.next) }) {
		t.Error("not in the order of their times")
	}
}

// A rule reads the whole table while it lists an absent value, and no two rules share a name, because metrics are by name.
func TestWholeTableForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var of []attr.Value
		asked := Rule{Table: "teams", Partitions: func(*store.Tx) ([]attr.Value, error) { return of, nil }}
		n := newReader(t, asked, asked, asked)
		n.foreign("teams", team("x", 1))
		n.next()
		n.sees("x", nil)
		of = []attr.Value{{}}
		n.next()
		n.sees("x", team("x", 1))
		n.foreignDelete("teams", teamKey("x"))
		letPass(time.Second)
		n.next()
		n.sees("x", nil)
		var names []string
		for _, st := range n.Status() {
			names = append(names, st.Rule)
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != 3 {
			t.Errorf("rules %q", names)
		}
	})
}

// An image that differs from the base in its hold alone is news: a delete must wait for it.
func TestHoldAloneIsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		image := team("x", 1)
		image[intent.AttrLife], image[intent.AttrCount] = attr.S("b.1.5"), attr.Int(1)
		n.foreign("teams", image)
		n.readNow("teams", teamKey("x"))
		letPass(time.Second)
		until := time.Now().Add(15 * time.Minute).UnixMilli()
		image[intent.AttrHold] = attr.Int(until)
		n.foreign("teams", image)
		n.readNow("teams", teamKey("x"))
		n.inView(func(tx *store.Tx) error {
			it, err := outbox.ItemOf(tx, n.Box.Spec("teams"), teamKey("x"))
			if err != nil {
				return err
			}
			sh, err := outbox.RemoteOf(tx, it)
			if err == nil && sh.Known.Side.Hold != until {
				t.Errorf("the hold is %d, want %d", sh.Known.Side.Hold, until)
			}
			return err
		})
	})
}
