package replica

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// adoptNow adopts one image as a read would that began just now.
func (n *feedNode) adoptNow(t testing.TB, table string, key, item attr.Item) adoption {
	t.Helper()
	read := n.reads.start()
	defer read.end()
	im := image{table: table, key: key, item: item, read: read, began: n.serverNow(), turn: n.identity.restores.turn.Load()}
	out, err := n.adopt(context.Background(), []image{im}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pendingMark is the mark of the one entry that waits on an item.
func (n *feedNode) pendingMark(t testing.TB, table string, key attr.Item) (mark attr.Value) {
	t.Helper()
	err := n.st.View(context.Background(), func(tx *store.Tx) error {
		w := n.newWork(tx)
		it, err := w.item(table, key)
		if err != nil {
			return err
		}
		entries, err := w.entries(it)
		if err == nil && len(entries) > 0 {
			mark = entries[len(entries)-1].Mark()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

// unanswered has what waits on an item be sent, without an answer.
func (n *feedNode) unanswered(t testing.TB, table string, key attr.Item) {
	t.Helper()
	err := n.st.Update(context.Background(), func(tx *store.Tx) error {
		w := n.newWork(tx)
		it, err := w.item(table, key)
		if err != nil {
			return err
		}
		entries, err := w.entries(it)
		for _, e := range entries {
			e.Sent, e.Unsure = 1, true
			w.changed(e)
		}
		if err != nil {
			return err
		}
		return w.finish()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func with(it attr.Item, more attr.Item) attr.Item {
	out := maps.Clone(it)
	maps.Copy(out, more)
	return out
}

func TestAdopt(t *testing.T) {
	life := attr.Item{"_c": attr.S("b.1.5"), "_n": attr.Int(3)}
	tests := []struct {
		name  string
		do    func(t *testing.T, n *feedNode) // before
		image func(t *testing.T, n *feedNode) attr.Item
		want  attr.Item // what readers see of x
		waits int64     // writes
	}{
		{
			"a new item", nil,
			func(*testing.T, *feedNode) attr.Item { return with(team("x", 1), life) }, team("x", 1), 0,
		},
		{
			"what nobody here knows is kept", nil,
			func(*testing.T, *feedNode) attr.Item {
				return with(team("x", 1), attr.Item{"_z": attr.S("of a newer version"), "odd": attr.L(attr.Null())})
			},
			with(team("x", 1), attr.Item{"_z": attr.S("of a newer version"), "odd": attr.L(attr.Null())}), 0,
		},
		{
			"a sidecar that somebody has spoiled", nil,
			func(*testing.T, *feedNode) attr.Item {
				return with(team("x", 1), attr.Item{"_c": attr.Int(1), "_n": attr.S("x"), "_a_a": attr.Bool(true), "_u": attr.S(""), "_t": attr.L()})
			},
			team("x", 1), 0,
		},
		{
			"an item that goes",
			func(t *testing.T, n *feedNode) { n.adoptNow(t, "teams", teamKey("x"), team("x", 1)) },
			func(*testing.T, *feedNode) attr.Item { return nil }, nil, 0,
		},
		{
			"a row that the cloud never had stays",
			func(t *testing.T, n *feedNode) {
				err := n.st.Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Adopt("teams", teamKey("x"), team("x", 9)) // as from the time before there was a cloud
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			},
			func(*testing.T, *feedNode) attr.Item { return nil }, team("x", 9), 0,
		},
		{
			"what waits is applied to the new base",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
			},
			func(*testing.T, *feedNode) attr.Item { return with(team("x", 10), life) }, team("x", 11), 1,
		},
		{
			"an entry whose mark the image carries is done",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
				n.unanswered(t, "teams", teamKey("x"))
			},
			func(t *testing.T, n *feedNode) attr.Item {
				return with(with(team("x", 2), life), attr.Item{"_a_a": n.pendingMark(t, "teams", teamKey("x"))})
			},
			team("x", 2), 0,
		},
		{
			"the mark of an entry that was never sent proves that a copy is at work, not that it is done",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
			},
			func(t *testing.T, n *feedNode) attr.Item {
				return with(with(team("x", 2), life), attr.Item{"_a_a": n.pendingMark(t, "teams", teamKey("x"))})
			},
			team("x", 3), 1,
		},
		{
			"a mark with other digits proves nothing",
			func(t *testing.T, n *feedNode) {
				n.adoptNow(t, "teams", teamKey("x"), with(team("x", 1), life))
				n.bump(t, "x")
				n.unanswered(t, "teams", teamKey("x"))
			},
			func(t *testing.T, n *feedNode) attr.Item {
				other, err := attr.Add(n.pendingMark(t, "teams", teamKey("x")), mustN(t, "0.000000001"))
				if err != nil {
					t.Fatal(err)
				}
				return with(with(team("x", 2), life), attr.Item{"_a_a": other})
			},
			team("x", 3), 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := openNode(t, newShelf(t), t.TempDir(), nil)
			if tt.do != nil {
				tt.do(t, n)
			}
			n.adoptNow(t, "teams", teamKey("x"), tt.image(t, n))
			got := n.row(t, "teams", teamKey("x"))
			if (got == nil) != (tt.want == nil) || !attr.EqualItems(got, tt.want) {
				t.Errorf("readers see %v, want %v", got, tt.want)
			}
			if w := n.waitingNow(t); w != tt.waits {
				t.Errorf("%d writes wait, want %d", w, tt.waits)
			}
		})
	}
}

func mustN(t testing.TB, text string) attr.Value {
	t.Helper()
	v, err := attr.N(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An adopted image is no write of the application: the journal says where it comes from.
func TestAdoptedOrigin(t *testing.T) {
	n := openNode(t, newShelf(t), t.TempDir(), nil)
	n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
	records, err := n.st.Journal(t.Context(), n.st.Seq()-1, 10)
	if err != nil || len(records) != 1 || records[0].Origin != store.OriginCloud {
		t.Errorf("%v, %v", records, err)
	}
	seq := n.st.Seq()
	n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
	if n.st.Seq() != seq {
		t.Error("an image that is the base already is journaled")
	}
}

// A base set since a read began makes what it found be read again, whichever looks newer; a tombstone counts as one.
func TestOvertakenRead(t *testing.T) {
	for _, meanwhile := range []attr.Item{team("x", 2), nil} {
		n := openNode(t, newShelf(t), t.TempDir(), nil)
		n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
		read := n.reads.start()
		n.adoptNow(t, "teams", teamKey("x"), meanwhile)
		out, err := n.adopt(t.Context(), []image{
			{table: "teams", key: teamKey("x"), item: team("x", 7), read: read, began: n.serverNow()},
			{table: "teams", key: teamKey("y"), item: team("y", 7), read: read, began: n.serverNow()},
		}, nil)
		read.end()
		if err != nil || len(out.again) != 1 || out.taken != 1 {
			t.Errorf("%+v, %v", out, err)
		}
		if got := n.row(t, "teams", teamKey("x")); (got == nil) != (meanwhile == nil) || !attr.EqualItems(got, meanwhile) {
			t.Errorf("readers see %v, want %v", got, meanwhile)
		}
	}
}

// Rows that are no items of the table are left out, and those beside them taken.
func TestForeignRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		n.online(t)
		p := newPass(n.spec("teams"), attr.Value{}, nil)
		spec := *p.spec
		spec.Key.Partition.Type = store.KeyNumber // what the node takes the key for
		p.spec = &spec
		c.foreign(t, "teams", nil, team("x", 1))
		budget := 10
		if _, err := n.pass(t.Context(), p, &budget); err != nil {
			t.Fatal(err)
		}
		if n.feeds.refused != 1 {
			t.Errorf("%d rows refused", n.feeds.refused)
		}
		out := n.adoptNow(t, "teams", attr.Item{"id": attr.S("")}, team("", 1))
		if out.refused != 1 {
			t.Errorf("an empty key: %+v", out)
		}
		if out = n.adoptNow(t, "nowhere", teamKey("x"), team("x", 1)); out.taken != 0 {
			t.Errorf("a table that is not here: %+v", out)
		}
	})
}

// One item of a transaction shows its mark: all of it is read, and readers see all of it.
func TestTransactionShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), func(cfg *Config) { cfg.Poll = []PollRule{{Table: "teams", Every: 10 * time.Second}} })
		for _, id := range []string{"x", "y"} {
			c.foreign(t, "teams", nil, team(id, 1))
		}
		n.online(t)
		n.round(t.Context(), n.feeds.loadRules(n.cfg.Poll)[0])
		bump := func(id string) store.WriteItem {
			u := store.UpdateItem{Table: "teams", Key: teamKey(id), Update: "ADD n :one"}
			u.Values = attr.Item{":one": attr.Int(1)}
			return store.WriteItem{Update: &u}
		}
		err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{bump("x"), bump("y")}})
		})
		if err != nil {
			t.Fatal(err)
		}
		lost := false
		c.set(func() {
			c.after = func(op, _ string) error {
				if op == "transact" && !lost {
					lost = true
					return &intent.Error{Class: intent.Unknown}
				}
				return nil
			}
		})
		n.drained(t)
		for _, id := range []string{"x", "y"} {
			if got := n.row(t, "teams", teamKey(id)); !got["n"].Equal(attr.Int(2)) || c.n(t, id) != 2 {
				t.Errorf("%s: readers see %v, the cloud has %d", id, got, c.n(t, id))
			}
		}
		if !lost {
			t.Error("no answer was lost")
		}
	})
}

func TestTombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, newShelf(t), t.TempDir(), nil)
		for _, id := range []string{"x", "y"} {
			n.adoptNow(t, "teams", teamKey(id), with(team(id, 1), attr.Item{"_c": attr.S("b.1.5")}))
			n.adoptNow(t, "teams", teamKey(id), nil)
		}
		n.adoptNow(t, "teams", teamKey("y"), team("y", 2)) // and is there again
		tomb := func(id string) (g gone, there bool) {
			err := n.st.View(t.Context(), func(tx *store.Tx) error {
				it, err := itemOf(tx, n.spec("teams"), teamKey(id))
				if err != nil {
					return err
				}
				sh, err := n.shadowOf(tx, it)
				if sh != nil {
					g, there = sh.gone, true
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return g, there
		}
		if g, _ := tomb("x"); g.life != "b.1.5" || g.at.IsZero() {
			t.Errorf("the tombstone is %+v", g)
		}
		letPass(tombstoneFor - time.Hour)
		n.forgetTombstones(t.Context())
		if g, _ := tomb("x"); g == (gone{}) {
			t.Error("the tombstone is gone within the day")
		}
		letPass(2 * time.Hour)
		n.forgetTombstones(t.Context())
		if _, there := tomb("x"); there {
			t.Error("the tombstone is kept for ever")
		}
		if g, there := tomb("y"); !there || g != (gone{}) || n.row(t, "teams", teamKey("y")) == nil {
			t.Errorf("of the item that is there again: %+v, %v", g, there)
		}
	})
}

// adoptStep is one step of the model.
type adoptStep struct {
	Kind string // own, foreign, ensure, refresh, wait
	Item string
	For  int // milliseconds of a wait
}

func drawSteps(rt *rapid.T) []adoptStep {
	kinds := rapid.SampledFrom([]string{"own", "own", "foreign", "ensure", "refresh", "wait"})
	items := rapid.SampledFrom([]string{"x", "y", "z"})
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) adoptStep {
		s := adoptStep{Kind: kinds.Draw(rt, "kind")}
		if s.Kind == "wait" {
			s.For = rapid.IntRange(1, 3000).Draw(rt, "ms")
		} else {
			s.Item = items.Draw(rt, "item")
		}
		return s
	}), 5, 25).Draw(rt, "steps")
}

// The cloud's history of some items, own writes and lost answers among it: readers never see an older state after a newer
// one, and what they see is the base with what waits.
func TestAdoptModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps, lose := drawSteps(rt), rapid.IntRange(0, 3).Draw(rt, "answers lost, of 8")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = adoptModel(t, steps, lose) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// model is what should be there: counters that only grow.
type model struct {
	own, foreign map[string]int64
	seen         map[string]int64 // of foreign ones, what was read last
}

func adoptModel(t *testing.T, steps []adoptStep, lose int) (wrong string) {
	c := newShelf(t)
	n := openNode(t, c, t.TempDir(), func(cfg *Config) {
		cfg.Poll = []PollRule{{Table: "teams", Every: 5 * time.Second}}
		var seed atomic.Uint64
		cfg.Rand = func() uint64 {
			k := seed.Add(0x9e3779b97f4a7c15)
			return k ^ k>>29
		}
	})
	k := 0
	c.set(func() {
		c.after = func(_, table string) error {
			if table == "touchline-sync" {
				return nil
			}
			if k++; k*5%8 < lose {
				return &intent.Error{Class: intent.Unknown, Err: context.DeadlineExceeded}
			}
			return nil
		}
	})
	stop := n.run(t)
	m := model{own: map[string]int64{}, foreign: map[string]int64{}, seen: map[string]int64{}}
	for i, s := range steps {
		if err := m.step(t, n, s); err != nil && classOf(err) != intent.Unknown {
			wrong = err.Error()
		}
		if wrong == "" {
			wrong = m.look(t, n)
		}
		if wrong != "" {
			stop()
			return fmt.Sprintf("step %d, %+v: %s", i, s, wrong)
		}
	}
	c.set(func() { c.after = nil })
	letPass(2 * time.Minute)
	stop()
	return m.end(t, n)
}

func (m *model) step(t *testing.T, n *feedNode, s adoptStep) error {
	switch s.Kind {
	case "own":
		n.bump(t, s.Item)
		m.own[s.Item]++
	case "foreign":
		n.cloud.foreignAdd(t, s.Item, "f")
		m.foreign[s.Item]++
	case "ensure":
		return n.Ensure(t.Context(), "teams", teamKey(s.Item))
	case "refresh":
		return n.refresh(t.Context(), "teams", teamKey(s.Item))
	case "wait":
		letPass(time.Duration(s.For) * time.Millisecond)
	}
	return nil
}

// look compares what readers see with the model.
func (m *model) look(t *testing.T, n *feedNode) string {
	for _, id := range []string{"x", "y", "z"} {
		it := n.row(t, "teams", teamKey(id))
		mine, _ := it["n"].Int()
		theirs, _ := it["f"].Int()
		switch {
		case mine != m.own[id]:
			return fmt.Sprintf("%s shows %d of %d own writes: %v; the cloud has %v", id, mine, m.own[id], it, n.cloud.raw(id))
		case theirs < m.seen[id] || theirs > m.foreign[id]:
			return fmt.Sprintf("%s shows %d of others, after %d, of %d", id, theirs, m.seen[id], m.foreign[id])
		}
		m.seen[id] = theirs
	}
	return ""
}

// end compares what is there when everything has healed.
func (m *model) end(t *testing.T, n *feedNode) string {
	for _, id := range []string{"x", "y", "z"} {
		it := n.cloud.raw(id)
		if mine, _ := it["n"].Int(); mine != m.own[id] {
			return fmt.Sprintf("%s: the cloud has %d of %d acknowledged writes; conflicts %v", id, mine, m.own[id], n.lostConflicts(t))
		}
		want, _ := intent.Split(it)
		if got := n.row(t, "teams", teamKey(id)); !attr.EqualItems(got, want) {
			return fmt.Sprintf("%s: readers see %v, the cloud has %v", id, got, want)
		}
	}
	if left := n.waitingNow(t); left != 0 {
		return fmt.Sprintf("%d writes wait", left)
	}
	return ""
}

func (c *shelf) raw(id string) attr.Item {
	it, err := c.item("teams", teamKey(id))
	if err != nil {
		panic(err)
	}
	return it
}

// foreignAdd adds one to a counter of an item, as somebody who knows nothing of us.
func (c *shelf) foreignAdd(t testing.TB, id, name string) {
	t.Helper()
	u := store.UpdateItem{Table: "teams", Key: teamKey(id), Update: fmt.Sprintf("ADD %s :one", name)}
	u.Values = attr.Item{":one": attr.Int(1)}
	err := c.st.Update(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Update(u)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
