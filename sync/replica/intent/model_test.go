package intent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// move is one step of the model of one item: two nodes, a foreign writer, a network that loses and delays.
type move struct {
	name string
	do   func(w *world, n int) // n tells one occurrence from another
}

func moves() []move {
	a := func(f func(n *node, i int)) func(*world, int) { return func(w *world, i int) { f(w.node("a"), i) } }
	b := func(f func(n *node, i int)) func(*world, int) { return func(w *world, i int) { f(w.node("b"), i) } }
	writes := func(f func(i int) op) func(n *node, i int) { return func(n *node, i int) { n.write(f(i)) } }
	steps := func(f fate) func(n *node, i int) { return func(n *node, i int) { n.step(f) } }
	upsert := writes(func(i int) op { return update("t", "i", "SET x = :x", "", ":x", i) })
	add := writes(func(i int) op { return update("t", "i", "ADD n :n", "", ":n", 1) })
	insert := writes(func(i int) op { return put("t", "i", "attribute_not_exists(pk)", "x", i) })
	change := writes(func(i int) op { return update("t", "i", "SET x = :x", "attribute_exists(pk)", ":x", i) })
	replace := writes(func(i int) op { return put("t", "i", "", "y", i) })
	erase := writes(func(int) op { return remove("t", "i", "") })
	eraseIf := writes(func(int) op { return remove("t", "i", "attribute_exists(x)") })
	learn := func(n *node, i int) { n.learn("t", "i") }
	return []move{
		{"a upserts", a(upsert)}, {"a adds", a(add)}, {"a inserts", a(insert)}, {"a changes", a(change)}, {"a replaces", a(replace)},
		{"a deletes", a(erase)}, {"a deletes if", a(eraseIf)},
		{"b upserts", b(upsert)}, {"b replaces", b(replace)}, {"b deletes", b(erase)},
		{"a sends", a(steps(arrive))}, {"a's answer is lost", a(steps(loseAnswer))}, {"a's request is lost", a(steps(loseRequest))},
		{"a's request is late", a(steps(delay))}, {"b sends", b(steps(arrive))}, {"b's answer is lost", b(steps(loseAnswer))},
		{"b's request is late", b(steps(delay))},
		{"a learns", a(learn)}, {"b learns", b(learn)}, {"a crashes", a(func(n *node, i int) { n.crash() })},
		{"late ones arrive", func(w *world, i int) { w.deliver() }},
		{"20 minutes pass", func(w *world, i int) { w.now = w.now.Add(20 * time.Minute) }},
		{"foreign set", func(w *world, i int) {
			if w.item("t", "i") != nil {
				w.foreignSet("t", "i", "z", i)
			}
		}},
		{"foreign put", func(w *world, i int) { w.foreignPut("t", "i", "z", i) }},
		{"foreign delete", func(w *world, i int) { w.foreignDelete("t", "i") }},
	}
}

// play makes the moves, heals the network, and checks the accounts.
func play(t fataler, w *world, foreignWrites bool, script []move) {
	adds := 0
	for i, m := range script {
		w.log = append(w.log, m.name)
		m.do(w, i+1)
		if m.name == "a adds" {
			adds++
		}
		foreignWrites = foreignWrites || strings.HasPrefix(m.name, "foreign put") || m.name == "foreign delete"
	}
	for range 3 {
		w.node("a").drain()
		w.node("b").drain()
		w.deliver()
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
	}
	if n, _ := w.item("t", "i")["n"].Int(); n > int64(adds) {
		fail("%d were added, %d are there", adds, n)
	}
	for _, n := range []*node{w.node("a"), w.node("b")} {
		for seq := uint64(1<<40 + 1); seq <= n.seq; seq++ {
			o, ok := n.done[seq]
			if !ok {
				fail("entry %d of %s is nowhere", seq-1<<40, n.name)
			}
			effects := w.cloud.effects[WriteID(n.name, seq)]
			made := w.cloud.made[WriteID(n.name, seq)]
			proofs := w.transactions && !w.older
			switch {
			case proofs && made > 0 && effects > 1:
				fail("entry %d of %s has created its item and was applied %d times", seq-1<<40, n.name, effects)
			case made > 0 && o.Result == OutConflict && (o.Code == CodeCondition || proofs && o.Code != CodeLost):
				fail("entry %d of %s has created its item and is reported as %s", seq-1<<40, n.name, o.Code)
			case effects > 1 && !foreignWrites:
				fail("entry %d of %s was applied %d times", seq-1<<40, n.name, effects)
			case o.Result == OutQuarantine || o.Result == OutTimeline:
				fail("entry %d of %s: result %d", seq-1<<40, n.name, o.Result)
			case o.Result == OutConflict && (o.Code == CodeCondition || o.Code == CodeDeleted) && effects > 0 && !foreignWrites:
				fail("entry %d of %s was applied and is reported as %s", seq-1<<40, n.name, o.Code)
			case o.Result == OutConflict && (o.Code == CodeUnknown && proofs || o.Code == CodeOverwritten) && !foreignWrites:
				fail("entry %d of %s is reported as %s without a foreign writer", seq-1<<40, n.name, o.Code)
			case o.Result == OutSuperseded && o.Code == CodeTombstone && (effects == 0 || effects > 1 && (proofs || !foreignWrites)):
				// Without a proof a repeat cannot see that a stranger has deleted the item that the first request created.
				fail("entry %d of %s is reported as created and deleted, and was applied %d times", seq-1<<40, n.name, effects)
			}
		}
		n.learn("t", "i")
		if got, want := show(n.view("t", "i")), show(w.item("t", "i")); got != want {
			fail("%s shows %s, the cloud has %s", n.name, got, want)
		}
	}
}

// setting is where a script begins.
type setting struct{ transactions, older, foreign, known bool }

func (s setting) world(t fataler) *world {
	w := newWorld(t)
	w.transactions, w.older = s.transactions, s.older
	if s.foreign {
		w.foreignPut("t", "i", "z", 0)
	}
	if s.known {
		w.node("a").learn("t", "i")
		w.node("b").learn("t", "i")
	}
	return w
}

// TestModelOfOneItem plays random scripts; a failing one is shortened.
func TestModelOfOneItem(t *testing.T) {
	t.Parallel()
	all := moves()
	rapid.Check(t, func(rt *rapid.T) {
		s := setting{
			transactions: rapid.Bool().Draw(rt, "transactions"), foreign: rapid.Bool().Draw(rt, "foreign item"),
			known: rapid.Bool().Draw(rt, "known"), older: rapid.Bool().Draw(rt, "older"),
		}
		var script []move
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 1, 25).Draw(rt, "moves") {
			script = append(script, all[i])
		}
		play(rt, s.world(rt), s.foreign, script)
	})
}

// TestModelOfOneItemAtLength does the same some thousand times, without shortening.
func TestModelOfOneItemAtLength(t *testing.T) {
	t.Parallel()
	all := moves()
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 1000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		s := setting{transactions: r.IntN(2) == 0, foreign: r.IntN(4) == 0, known: r.IntN(2) == 0, older: r.IntN(4) == 0}
		script := make([]move, 4+r.IntN(20))
		for i := range script {
			script[i] = all[r.IntN(len(all))]
		}
		play(t, s.world(t), s.foreign, script)
	}
}

// idle reports whether a move at the end of a script can do nothing: there is nothing that its node could send, or that could arrive
// late. Such a script equals a shorter one.
func idle(script []move, m move) bool {
	node, does, _ := strings.Cut(m.name, " ")
	node = strings.TrimSuffix(node, "'s")
	never := func(is func(name string) bool) bool {
		return !slices.ContainsFunc(script, func(m move) bool { return is(m.name) })
	}
	switch {
	case does == "sends" || strings.HasSuffix(does, "is lost") || strings.HasSuffix(does, "is late"):
		return never(func(name string) bool {
			by, wrote, _ := strings.Cut(name, " ")
			return by == node && wrote != "sends" && wrote != "learns" && wrote != "crashes"
		})
	case m.name == "late ones arrive":
		return never(func(name string) bool { return strings.HasSuffix(name, "is late") })
	}
	return false
}

// everyScript plays all scripts of a length in which each move may do something, each in so many of the four settings.
func everyScript(t *testing.T, length, settings int) {
	t.Helper()
	all := moves()
	r := rand.New(rand.NewPCG(uint64(length), 11))
	script := make([]move, length)
	var fill func(i int)
	fill = func(i int) {
		if i < length {
			for _, m := range all {
				if !idle(script[:i], m) {
					script[i] = m
					fill(i + 1)
				}
			}
			return
		}
		for _, bits := range r.Perm(4)[:settings] {
			s := setting{transactions: bits&1 == 0, foreign: bits&2 != 0, known: bits != 0}
			play(t, s.world(t), s.foreign, script)
		}
	}
	fill(0)
}

// TestEveryShortScript plays all scripts of three moves. What is left of them is sent when the network has healed.
func TestEveryShortScript(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		everyScript(t, 2, 4)
		everyScript(t, 3, 1)
		return
	}
	everyScript(t, 3, 4)
}
