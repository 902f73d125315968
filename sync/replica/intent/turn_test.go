package intent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// asking is an item of b that a, b and c know. A Put of a was refused twice, because b was faster, and asks for its turn next.
type asking struct {
	w       *world
	a, b, c *node
	put     *Entry
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	w := newWorld(t)
	s := &asking{w: w, a: w.node("a"), b: w.node("b"), c: w.node("c")}
	s.c.random = 5 // digits of its own
	w.made("b", "i", "a", "c")
	s.put = s.a.write(put("t", "i", "", "y", 1))
	for range turnTries {
		s.arrives(s.b)
		s.a.step(arrive)
	}
	if s.put.Refused != turnTries || !sidecar(w, "i").Turn.IsZero() {
		t.Fatalf("refused %d times, turn %s", s.put.Refused, sidecar(w, "i").Turn)
	}
	return s
}

// asked is asking after the answer.
func asked(t *testing.T) *asking {
	t.Helper()
	s := newAsking(t)
	s.a.step(arrive)
	if side := sidecar(s.w, "i"); !s.put.hasTurn(side) {
		t.Fatalf("turn %s", side.Turn)
	}
	return s
}

// arrives makes a node add to the item at once.
func (s *asking) arrives(n *node) *Entry {
	s.w.t.Helper()
	e := s.adds(n)
	n.step(arrive)
	n.result(e, OutApplied, "")
	return e
}

func (s *asking) adds(n *node) *Entry { return n.write(update("t", "i", "ADD n :n", "", ":n", 1)) }

// waits returns how long a node's entry waits from now on, sending whenever it may.
func (s *asking) waits(n *node, e *Entry) time.Duration {
	s.w.t.Helper()
	began := s.w.now
	for range 10_000 {
		n.step(arrive)
		if _, done := n.done[e.Seq]; done {
			n.result(e, OutApplied, "")
			return s.w.now.Sub(began)
		}
		s.w.now = s.w.now.Add(10 * time.Millisecond)
	}
	s.w.t.Fatalf("it still waits: %+v", e)
	return 0
}

// Asking costs one write, each other node writes once more at most, and the Put stays a Put. The sends that let it pass follow soon
// after, without being refused.
func TestPutTakesItsTurn(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"with transactions": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAsking(t)
			s.w.transactions = transactions
			before := s.a.asked
			s.a.step(arrive)
			s.arrives(s.b) // b has not seen the turn yet
			s.a.step(arrive)
			s.arrives(s.c)
			s.a.step(arrive)
			e, d := s.adds(s.b), s.c.write(remove("t", "i", ""))
			if s.b.step(arrive) || s.c.step(arrive) || e.Why != WhyYield || d.Why != WhyYield {
				t.Fatalf("%s %s", e.Why, d.Why)
			}
			asked := s.b.asked
			s.a.step(arrive)
			s.a.result(s.put, OutApplied, "")
			if n := s.a.asked - before; n != 4 {
				t.Errorf("%d requests for the turn and in it", n)
			}
			s.w.want("t", "i", `{"y":{"N":"1"}}`)
			if side := sidecar(s.w, "i"); !side.Turn.IsZero() {
				t.Errorf("the Put has left its turn: %s", side.Turn)
			}
			if wait := s.waits(s.b, e); wait > firstYield || s.b.asked != asked+1 {
				t.Errorf("it waited for %s, asked %d times", wait, s.b.asked-asked)
			}
			s.w.want("t", "i", `{"n":{"N":"1"},"y":{"N":"1"}}`)
			s.waits(s.c, d)
			s.w.want("t", "i", "nothing")
		})
	}
}

// The turn of a node that is gone holds the other nodes for as long as it lasts, whatever they write.
func TestTurnOfADeadNode(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]op{
		"update": update("t", "i", "ADD n :n", "", ":n", 1), "put": put("t", "i", "", "z", 1), "delete": remove("t", "i", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := asked(t)
			s.b.learn("t", "i")
			if wait := s.waits(s.b, s.b.write(o)); wait < turnFor-firstYield || wait > turnFor {
				t.Errorf("it waited for %s", wait)
			}
			if wait := s.waits(s.b, s.b.write(put("t", "i", "", "z", 2))); wait > 0 {
				t.Errorf("the next one waited for %s", wait)
			}
		})
	}
}

// A wrong clock, of whichever node, holds no node for longer.
func TestTurnsAndWrongClocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		turn time.Duration // ahead of the others' clock
		back time.Duration // they are put back by, when they wait
		most time.Duration
	}{
		"in time":                         {turn: turnFor, most: turnFor},
		"a little ahead":                  {turn: turnFor + turnSlack, most: yieldFor},
		"an hour ahead":                   {turn: time.Hour},
		"an hour behind":                  {turn: -time.Hour},
		"the waiting clock is put back":   {turn: turnFor, back: time.Hour, most: 10 * time.Millisecond},
		"put back by less than the turn":  {turn: turnFor, back: time.Second, most: yieldFor},
		"as large as a number can be":     {turn: 1 << 62},
		"it is put back to before a year": {turn: turnFor, back: 400 * 24 * time.Hour, most: 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := &asking{w: w, b: w.node("b")}
			w.made("b", "i")
			w.foreignSet("t", "i", AttrTurn, w.now.UnixMilli()+tt.turn.Milliseconds())
			s.b.learn("t", "i")
			e := s.adds(s.b)
			s.b.step(arrive)
			w.now = w.now.Add(-tt.back)
			if wait := s.waits(s.b, e); wait > tt.most || tt.back == 0 && tt.most > 0 && wait < tt.most-firstYield {
				t.Errorf("it waited for %s", wait)
			}
		})
	}
}

// No node waits for ever for one that takes turn after turn: five seconds in all.
func TestYieldingEnds(t *testing.T) {
	t.Parallel()
	s := asked(t)
	s.b.learn("t", "i")
	e, began := s.adds(s.b), s.w.now
	for s.b.done[e.Seq].Result == 0 {
		s.w.foreignSet("t", "i", AttrTurn, s.w.now.Add(turnFor).UnixMilli())
		s.b.step(arrive)
		s.b.crash()
		s.w.now = s.w.now.Add(10 * time.Millisecond)
	}
	if wait := s.w.now.Sub(began); wait > yieldFor+20*time.Millisecond || wait < yieldFor-time.Second {
		t.Errorf("it waited for %s", wait)
	}
	s.b.result(e, OutApplied, "")
}

// Writers that ignore turns make the item rest. After each rest that outlasts the turn, a new one is asked for.
func TestTurnsAndForeignWriters(t *testing.T) {
	t.Parallel()
	s := asked(t)
	n, turns, last := 0, 0, attr.Value{}
	for began := s.w.now; s.w.now.Sub(began) < 10*time.Minute; s.w.now = s.w.now.Add(time.Second / 7) {
		n++
		s.w.foreignSet("t", "i", AttrCount, 1000+n)
		if turn := sidecar(s.w, "i").Turn; !turn.Equal(last) {
			turns, last = turns+1, turn
		}
		s.a.step(arrive)
	}
	if s.put.Why != WhyCount || s.a.asked > 60 || turns > 25 {
		t.Errorf("%s, asked %d times, %d turns", s.put.Why, s.a.asked, turns)
	}
	s.a.drain()
	s.a.result(s.put, OutApplied, "")
}

// A request for a turn whose answer is lost is repeated, and recognizes its own turn.
func TestAnswerToAskingLost(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{loseAnswer, loseRequest, throttle} {
		s := newAsking(t)
		s.a.step(f)
		s.a.crash()
		s.put = s.a.queue[0]
		s.a.drain()
		s.a.result(s.put, OutApplied, "")
		s.w.want("t", "i", `{"y":{"N":"1"}}`)
	}
}

// A late copy of a request for a turn creates nothing if the item is gone, and holds no node.
func TestLateAsking(t *testing.T) {
	t.Parallel()
	s := newAsking(t)
	s.a.step(delay)
	s.w.foreignDelete("t", "i")
	s.w.deliver()
	s.w.want("t", "i", "nothing")

	s = newAsking(t)
	s.a.step(delay)
	s.a.drain()
	s.w.now = s.w.now.Add(turnFor)
	s.w.deliver()
	s.b.learn("t", "i")
	if wait := s.waits(s.b, s.adds(s.b)); wait > 0 {
		t.Errorf("it waited for %s", wait)
	}
}

// Two Puts take turns, one after the other: a Put computed before the turn yields, and so does one that would ask for its own.
func TestTwoPutsTakeTurns(t *testing.T) {
	t.Parallel()
	for _, refused := range []int{0, turnTries} {
		s := newAsking(t)
		other := s.c.write(put("t", "i", "", "z", 1))
		s.c.learn("t", "i")
		other.Refused = refused
		s.a.step(arrive) // has the turn
		s.c.step(arrive)
		if other.Why != WhyYield || s.c.step(arrive) || other.Refused != refused {
			t.Fatalf("%+v", other)
		}
		s.waits(s.a, s.put)
		s.waits(s.c, other)
		s.w.want("t", "i", `{"z":{"N":"1"}}`)
	}
}

// A Put in a transaction asks for its turn too, and other nodes' transactions let it pass.
func TestTransactionTakesItsTurn(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fate{"answered": arrive, "the asking unanswered": loseAnswer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, b := w.node("a"), w.node("b")
			w.made("b", "i", "a")
			a.random = 5
			entries := a.mustTransact(put("t", "i", "", "y", 1), put("u", "k", "", "y", 1))
			for range turnTries {
				b.write(update("t", "i", "ADD n :n", "", ":n", 1))
				b.step(arrive)
				a.step(arrive)
			}
			a.step(f)
			b.learn("t", "i")
			others := b.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), put("u", "other", "", "y", 1))
			if b.step(arrive) || others[0].Why != WhyYield && others[1].Why != WhyYield {
				t.Fatalf("%+v", others)
			}
			for range 5 {
				a.step(arrive)
			}
			for _, e := range entries {
				a.result(e, OutApplied, "")
			}
			w.want("t", "i", `{"y":{"N":"1"}}`)
			w.now = w.now.Add(firstYield)
			b.drain()
			for _, e := range others {
				b.result(e, OutApplied, "")
			}
			w.want("t", "i", `{"n":{"N":"1"},"y":{"N":"1"}}`)
		})
	}
}

// A Put that replaces an expired item needs no turn once that item is gone: nobody keeps writing it.
func TestNoTurnOfAnItemThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	b.write(put("t", "i", "", "x", 1, "ttl", w.now.Unix()+60))
	b.drain()
	a.learn("t", "i")
	w.now = w.now.Add(time.Hour)
	revived := a.write(put("t", "i", "", "y", 2, "ttl", w.now.Unix()+1e5))
	for range turnTries {
		b.write(update("t", "i", "ADD n :n", "", ":n", 1))
		b.step(arrive)
		a.step(arrive)
	}
	if !revived.ReplacesExpired || revived.Refused != turnTries {
		t.Fatalf("%+v", revived)
	}
	w.foreignDelete("t", "i")
	for range 4 {
		a.step(arrive)
	}
	a.result(revived, OutApplied, "")
}

// A waiting entry that was never sent may be folded, and does not wait longer because of that.
func TestFoldedWhileItYields(t *testing.T) {
	t.Parallel()
	s := asked(t)
	s.b.learn("t", "i")
	e, began := s.adds(s.b), s.w.now
	for s.b.done[e.Seq].Result == 0 {
		s.b.step(arrive)
		if s.b.done[e.Seq].Result == 0 {
			l := s.adds(s.b)
			if f, ok := Coalesce(e, l, true, s.w.cloud.cache); ok {
				s.b.queue, e = []*Entry{f}, f
			} else {
				s.b.queue = s.b.queue[:1]
			}
		}
		s.w.now = s.w.now.Add(100 * time.Millisecond)
	}
	if wait := s.w.now.Sub(began); wait > turnFor+200*time.Millisecond || len(e.Folds) < 3 {
		t.Errorf("it waited for %s, %d were folded", wait, len(e.Folds))
	}
}

// Values that foreign writers give the attribute hold up no node, and ask for nothing.
func TestSpoiledTurn(t *testing.T) {
	t.Parallel()
	for _, turn := range []any{"soon", true, -1, 0.5, "9e99", map[string]int{"a": 1}, nil} {
		s := newAsking(t)
		s.w.foreignSet("t", "i", AttrTurn, turn)
		s.b.learn("t", "i")
		if wait := s.waits(s.b, s.adds(s.b)); wait > 0 {
			t.Errorf("%v: it waited for %s", turn, wait)
		}
		if wait := s.waits(s.a, s.put); wait > time.Second {
			t.Errorf("%v: the Put waited for %s", turn, wait)
		}
	}
}

// TestModelOfTurns plays scripts in which Puts of two nodes are overtaken, and some seconds pass.
func TestModelOfTurns(t *testing.T) {
	t.Parallel()
	often := map[string]int{"a replaces": 5, "b replaces": 1, "b upserts": 5, "a sends": 6, "b sends": 6}
	var some []move
	for _, m := range moves() {
		n, have := often[m.name]
		switch {
		case have:
		case strings.Contains(m.name, "delete"), strings.Contains(m.name, "foreign"), m.name == "20 minutes pass":
		default:
			n = 1
		}
		some = append(some, slices.Repeat([]move{m}, n)...)
	}
	second := move{"a second passes", func(w *world, _ int) { w.now = w.now.Add(time.Second) }}
	some = append(some, second, second)
	turns, yields := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 8))
		w := setting{transactions: r.IntN(2) == 0, known: true}.world(t)
		w.made("a", "i", "b")
		w.node("b").random = 5
		script := make([]move, 10+r.IntN(30))
		for i := range script {
			script[i] = some[r.IntN(len(some))]
		}
		play(t, w, false, script)
		for _, line := range w.log {
			if strings.Contains(line, fmt.Sprintf(" step %d ", stepTurn)) {
				turns++
			}
			if strings.HasSuffix(line, "parked, "+WhyYield) {
				yields++
			}
		}
	}
	if turns < 50 || yields < 20 {
		t.Errorf("%d turns were requested, %d sends yielded", turns, yields)
	}
}

// Ordinary sends have no turn guard; only those that have yielded do.
func TestOrdinarySendsSayNothingOfTurns(t *testing.T) {
	t.Parallel()
	s := asked(t)
	condition := func(n *node) string {
		u := n.batch()
		a := u.Next(n.bases(u), n.env())
		if a.Kind != ActSend {
			t.Fatalf("%+v", a)
		}
		return a.Calls[0].Condition
	}
	s.adds(s.b)
	if c := condition(s.b); strings.Contains(c, "#y") {
		t.Error(c)
	}
	if c := condition(s.a); strings.Contains(c, "#y") { // the Put in its turn
		t.Error(c)
	}
	s.c.learn("t", "i")
	s.adds(s.c)
	s.c.step(arrive)
	s.w.now = s.w.now.Add(firstYield)
	if c := condition(s.c); !strings.Contains(c, "NOT #y BETWEEN :y AND :h") {
		t.Error(c)
	}
}
