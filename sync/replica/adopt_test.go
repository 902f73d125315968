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
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// adoptNow sets an item in the cloud, nil: none, and makes the node read it.
func (n *feedNode) adoptNow(t testing.TB, table string, key, item attr.Item) {
	t.Helper()
	n.cloud.foreign(t, table, key, item)
	n.readNow(t, table, key)
}

// readNow makes the node read an item.
func (n *feedNode) readNow(t testing.TB, table string, key attr.Item) {
	t.Helper()
	if err := n.feed.ReadNow(t.Context(), n.spec(table), key); err != nil {
		t.Fatal(err)
	}
}

// pendingMark returns the mark of the one entry that waits on an item.
func (n *feedNode) pendingMark(t testing.TB, table string, key attr.Item) (mark attr.Value) {
	t.Helper()
	n.inView(t, func(tx *store.Tx) error {
		w := n.box.Begin(tx)
		it, err := w.Load(table, key)
		if err != nil {
			return err
		}
		entries, err := w.Entries(it)
		if err == nil && len(entries) > 0 {
			mark = entries[len(entries)-1].Mark()
		}
		return err
	})
	return mark
}

// unanswered sends what waits on an item, without an answer.
func (n *feedNode) unanswered(t testing.TB, table string, key attr.Item) {
	t.Helper()
	n.changeWaiting(t, table, key, func(e *intent.Entry) { e.Sent, e.Unsure = 1, true })
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
				n.inTx(t, func(tx *store.Tx) error {
					_, err := tx.Adopt("teams", teamKey("x"), team("x", 9)) // as from the time before there was a cloud
					return err
				})
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
			_, n := opened(t, nil)
			if tt.do != nil {
				tt.do(t, n)
			}
			n.adoptNow(t, "teams", teamKey("x"), tt.image(t, n))
			n.sees(t, "x", tt.want)
			n.waits(t, tt.waits)
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

// An adopted image is not a write of the application: the journal records its origin.
func TestAdoptedOrigin(t *testing.T) {
	_, n := opened(t, nil)
	n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
	records, err := n.st.Journal(t.Context(), n.st.Seq()-1, 10)
	if err != nil || len(records) != 1 || records[0].Origin != store.OriginCloud {
		t.Errorf("%v, %v", records, err)
	}
	seq := n.st.Seq()
	n.adoptNow(t, "teams", teamKey("x"), team("x", 1))
	if n.st.Seq() != seq {
		t.Error("an image equal to the base is journaled")
	}
}

// One item of a transaction shows its mark: all of it is read, and readers see all of it.
func TestTransactionShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(10*time.Second))
		for _, id := range []string{"x", "y"} {
			c.foreign(t, "teams", nil, team(id, 1))
		}
		n.online(t)
		for _, id := range []string{"x", "y"} {
			n.readNow(t, "teams", teamKey(id))
		}
		n.together(t, oneMore("x"), oneMore("y"))
		lost := 0
		c.loseAnswers(func(op, _ string) bool {
			if op == "transact" {
				lost++
			}
			return op == "transact" && lost == 1
		})
		n.drained(t)
		n.cloudHas(t, teams{"x": 2, "y": 2})
		for _, id := range []string{"x", "y"} {
			n.sees(t, id, team(id, 2))
		}
		if lost == 0 {
			t.Error("no answer was lost")
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

// The cloud's history of some items, including our own writes and lost answers: readers never see an older state after a newer one, and
// what they see is the base with the pending entries.
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

// model is the expected state: counters that only grow.
type model struct {
	own, foreign map[string]int64
	seen         map[string]int64 // of the foreign writer's counters, the value read last
}

func adoptModel(t *testing.T, steps []adoptStep, lose int) (wrong string) {
	c := newShelf(t)
	n := openNode(t, c, t.TempDir(), func(cfg *Config) {
		cfg.Poll = []feed.Rule{{Table: "teams", Every: 5 * time.Second}}
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
		if err := m.step(t, n, s); err != nil && remote.ClassOf(err) != intent.Unknown {
			wrong = err.Error()
		}
		if wrong == "" {
			wrong = m.compare(t, n)
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
		return n.feed.Ensure(t.Context(), "teams", teamKey(s.Item))
	case "refresh":
		return n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey(s.Item))
	case "wait":
		letPass(time.Duration(s.For) * time.Millisecond)
	}
	return nil
}

// compare compares what readers see with the model.
func (m *model) compare(t *testing.T, n *feedNode) string {
	for _, id := range []string{"x", "y", "z"} {
		it := n.row(t, "teams", teamKey(id))
		mine, _ := it["n"].Int()
		theirs, _ := it["f"].Int()
		switch {
		case mine != m.own[id]:
			return fmt.Sprintf("%s shows %d of %d own writes: %v; the cloud has %v", id, mine, m.own[id], it, n.cloud.team(t, id))
		case theirs < m.seen[id] || theirs > m.foreign[id]:
			return fmt.Sprintf("%s shows %d of others, after %d, of %d", id, theirs, m.seen[id], m.foreign[id])
		}
		m.seen[id] = theirs
	}
	return ""
}

// end compares the state once everything has healed.
func (m *model) end(t *testing.T, n *feedNode) string {
	for _, id := range []string{"x", "y", "z"} {
		it := n.cloud.team(t, id)
		if mine, _ := it["n"].Int(); mine != m.own[id] {
			return fmt.Sprintf("%s: the cloud has %d of %d acknowledged writes; conflicts %v", id, mine, m.own[id], n.conflicts(t))
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

// foreignAdd adds one to an item's counter, as a foreign writer.
func (c *shelf) foreignAdd(t testing.TB, id, name string) {
	t.Helper()
	u := store.UpdateItem{Table: "teams", Key: teamKey(id), Update: fmt.Sprintf("ADD %s :one", name)}
	u.Values = attr.Item{":one": attr.Int(1)}
	c.inTx(t, func(tx *store.Tx) error {
		_, err := tx.Update(u)
		return err
	})
}
