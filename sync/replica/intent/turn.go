package intent

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A Put goes through only where nobody has written since its base. Of an item that others write all the time it asks for its
// turn (_r), and for some seconds their sends let it pass: they yield.
const (
	turnTries  = 2 // refused count guards after which a Put asks for its turn
	countTries = 5 // after which the item rests all the same: turns do not hold foreign writers back

	turnFor     = 5 * time.Second        // a turn lasts
	turnSlack   = 2 * time.Second        // clocks that follow the server's may differ by: a turn that ends later is none
	yieldFor    = 5 * time.Second        // a send yields for so long, whatever the turn says
	firstYield  = 500 * time.Millisecond // and looks again after this, then after as long as it has yielded
	firstRest   = 250 * time.Millisecond // of an item whose Put is refused
	maxRest     = time.Minute            // doubled up to this
	longestRest = maxRest + maxRest/2    // what chance adds to it included
)

// turn returns until when others are to let a Put pass; false: they need not. A turn that lasts for longer than any that
// begins now was given by a wrong clock.
func (s Sidecar) turn(env Env) (until time.Time, ok bool) {
	if s.Turn.Kind() != attr.KindN {
		return time.Time{}, false
	}
	until = time.UnixMilli(int64(min(Whole(s.Turn), maxMillis)))
	left := until.Sub(env.Now)
	return until, left > 0 && left <= turnFor+turnSlack
}

// maxMillis bounds what a foreign writer may have made of an instant.
const maxMillis = 1 << 48

// hasTurn reports whether the turn that an item carries is the entry's own.
func (e *Entry) hasTurn(side Sidecar) bool {
	return !side.Turn.IsZero() && fraction(side.Turn) == fraction(e.Mark())
}

// yieldsTo reports whether the entry lets another's Put pass. It does so for yieldFor since it first met a turn, whatever the
// turns say and whoever takes them.
func (e *Entry) yieldsTo(side Sidecar, env Env) bool {
	if side.Turn.IsZero() || e.hasTurn(side) {
		return false
	}
	if _, ok := side.turn(env); !ok {
		return false
	}
	yielded := env.Now.Sub(e.Yields)
	return e.Yields.IsZero() || yielded >= 0 && yielded < yieldFor
}

// yield parks the entry if it lets another's Put pass: this is no refusal. It reports whether it does.
func (e *Entry) yield(side Sidecar, env Env) bool {
	if !e.yieldsTo(side, env) {
		return false
	}
	if e.Yields.IsZero() {
		e.Yields = env.Now
	}
	until, _ := side.turn(env)
	e.NotBefore, e.Why = env.Now.Add(max(firstYield, env.Now.Sub(e.Yields))), WhyYield
	for _, end := range []time.Time{until, e.Yields.Add(yieldFor)} {
		if e.NotBefore.After(end) {
			e.NotBefore = end
		}
	}
	return true
}

// needsTurn reports whether a Put has been refused often enough to ask for its turn, and nobody has one.
func (e *Entry) needsTurn(side Sidecar, env Env) bool {
	_, taken := side.turn(env)
	return e.Refused >= turnTries && !taken && (e.Op == store.OpPut || e.Ghost) && e.Life.Kind != LifeNone
}

// countRefused: others have written since the base of a Put. It is sent again on what they made, from the third time on in
// its turn, and gives its item a rest if that does not help.
func (e *Entry) countRefused(env Env) (verdict, decision) {
	e.Refused++
	if e.Refused < countTries {
		return verdictAgain, decision{}
	}
	rest := min(firstRest<<min(e.Refused-countTries, 8), maxRest)
	e.NotBefore, e.Why = env.Now.Add(rest/2+time.Duration(env.Rand()%uint64(rest))), WhyCount
	return verdictPark, decision{}
}

// turnCall asks for the entry's turn, if nobody has one. It counts in _n, or a Put computed before would take it away.
func turnCall(e *Entry, env Env) Call {
	r := &request{call: Call{Op: store.OpUpdate, Table: e.Table, Key: e.Key}}
	r.lifeGuard(e, e.Life, env)
	r.noTurn(env)
	r.count()
	r.sets = append(r.sets, "#y = "+r.value(":x", number("%d.%09d", env.Now.Add(turnFor).UnixMilli(), e.Digits)))
	r.call.Update = "SET " + strings.Join(r.sets, ", ")
	return r.done()
}

// noTurn holds a call to that nobody has a turn.
func (r *request) noTurn(env Env) {
	now := env.Now.UnixMilli()
	r.must("(NOT " + r.name("#y", AttrTurn) + " BETWEEN " + r.value(":y", attr.Int(now+1)) + " AND " +
		r.value(":h", attr.Int(now+(turnFor+turnSlack).Milliseconds())) + ")")
}

// turnGuard has an entry that has yielded find out whether it still has to. It is in no other send: who has not seen a turn
// is told of it by the answer, and the Put is refused by each other node at most once.
func (r *request) turnGuard(e *Entry, known Known, env Env) {
	if e.yieldsTo(known.Side, env) {
		r.noTurn(env)
	}
}

// turn is the answer to the asking. A turn of the entry's own is that of an asking whose answer was lost.
func (t *taking) turn() {
	err := t.ans.Err
	switch {
	case err == nil:
		t.sees(t.ans.Image)
		return
	case err.Class != ConditionFailed:
		t.fails()
		return
	}
	t.sees(err.Old)
	t.e.unneeded(err.Old)
	if !t.e.hasTurn(t.o.Known[0].Side) {
		t.decide(facts{image: err.Old, unsure: t.e.Unsure})
	}
}

// unneeded takes back that the entry needs its turn, where the answer to the asking shows no item: there is nothing that
// others go on writing, and nothing that could carry a turn.
func (e *Entry) unneeded(image attr.Item) {
	if image == nil {
		e.Refused = 0
	}
}

// turn is the same for an entry of a transaction.
func (t *takingAll) turn() {
	i, err := t.lead.met.turn, t.ans.Err
	switch {
	case err == nil:
		t.sees(i, t.ans.Image)
		return
	case err.Class != ConditionFailed:
		t.unexpected()
		return
	}
	t.sees(i, err.Old)
	t.u.Entries[i].unneeded(err.Old)
	switch {
	case t.u.Entries[i].hasTurn(t.o.Known[i].Side):
	case t.u.unsure():
		t.lead.step = stepProof
	default:
		worst := ruling{v: verdictAgain}
		worst.add(t.judge(i, err.Old))
		t.act(worst)
	}
}
