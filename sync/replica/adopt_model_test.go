package replica

import (
	"context"
	"fmt"
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
