package intent

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A Put succeeds only if nobody has written since its base. On an item that is written all the time it asks for a turn (_r): for some
// seconds other nodes' sends yield to it.
const (
	turnTries  = 2 // failed count guards before a Put asks for its turn
	countTries = 5 // after these the item rests all the same: turns do not stop foreign writers

	turnFor     = 5 * time.Second        // duration of a turn
	turnSlack   = 2 * time.Second        // possible difference between clocks that follow the server's; a turn that ends later is ignored
	yieldFor    = 5 * time.Second        // a send yields for at most this long, whatever the turn says
	firstYield  = 500 * time.Millisecond // first pause of a yielding send; each later one is as long as it has yielded so far
	firstRest   = 250 * time.Millisecond // first rest of an item whose Put is refused
	maxRest     = time.Minute            // upper limit of the doubled rest
	longestRest = maxRest + maxRest/2    // including jitter
)

// turnUntil returns until when others should let a Put pass; ok is false if they need not. A turn that lasts longer than one beginning now
// was set by a wrong clock.
func (s Sidecar) turnUntil(env Env) (until time.Time, ok bool) {
	if s.Turn.Kind() != attr.KindN {
		return time.Time{}, false
	}
	until = time.UnixMilli(int64(min(Whole(s.Turn), maxMillis)))
	left := until.Sub(env.Now)
	return until, left > 0 && left <= turnFor+turnSlack
}

// maxMillis bounds an instant that a foreign writer may have changed.
const maxMillis = 1 << 48

// hasTurn reports whether the turn on an item is the entry's own.
func (e *Entry) hasTurn(side Sidecar) bool {
	return !side.Turn.IsZero() && fraction(side.Turn) == fraction(e.Mark())
}

// yieldsTo reports whether the entry lets another's Put pass. It does so for yieldFor from the first turn it meets, whatever later
// turns say.
func (e *Entry) yieldsTo(side Sidecar, env Env) bool {
	if side.Turn.IsZero() || e.hasTurn(side) {
		return false
	}
	if _, ok := side.turnUntil(env); !ok {
		return false
	}
	yielded := env.Now.Sub(e.Yields)
	return e.Yields.IsZero() || yielded >= 0 && yielded < yieldFor
}

// yield parks the entry if it lets another's Put pass, and reports whether it did. This is not a refusal.
func (e *Entry) yield(side Sidecar, env Env) bool {
	if !e.yieldsTo(side, env) {
		return false
	}
	if e.Yields.IsZero() {
		e.Yields = env.Now
	}
	until, _ := side.turnUntil(env)
	e.NotBefore, e.Why = env.Now.Add(max(firstYield, env.Now.Sub(e.Yields))), WhyYield
	for _, end := range []time.Time{until, e.Yields.Add(yieldFor)} {
		if e.NotBefore.After(end) {
			e.NotBefore = end
		}
	}
	return true
}

// needsTurn reports whether a Put has been refused often enough to ask for its turn and nobody else has one.
func (e *Entry) needsTurn(side Sidecar, env Env) bool {
	_, taken := side.turnUntil(env)
	return e.Refused >= turnTries && !taken && (e.Op == store.OpPut || e.ReplacesExpired) && e.Life.Kind != LifeNone
}

// countRefused handles a Put whose item others have written since its base. It is sent again on the new image, from the third time on
// in its turn; if that does not help, its item rests.
func (e *Entry) countRefused(env Env) (verdict, decision) {
	e.Refused++
	if e.Refused < countTries {
		return verdictAgain, decision{}
	}
	rest := min(firstRest<<min(e.Refused-countTries, 8), maxRest)
	e.NotBefore, e.Why = env.Now.Add(rest/2+time.Duration(env.Rand()%uint64(rest))), WhyCount
	return verdictPark, decision{}
}

// turnCall asks for the entry's turn if nobody has one. It counts in _n; otherwise a Put computed earlier would remove the turn.
func turnCall(e *Entry, env Env) Call {
	r := &request{call: Call{Op: store.OpUpdate, Table: e.Table, Key: e.Key}}
	r.lifeGuard(e, e.Life, env)
	r.noTurn(env)
	r.count()
	r.sets = append(r.sets, "#y = "+r.value(":x", number("%d.%09d", env.Now.Add(turnFor).UnixMilli(), e.Digits)))
	r.call.Update = "SET " + strings.Join(r.sets, ", ")
	return r.build()
}

// noTurn makes a call conditional on nobody having a turn.
func (r *request) noTurn(env Env) {
	now := env.Now.UnixMilli()
	r.must("(NOT " + r.name("#y", AttrTurn) + " BETWEEN " + r.value(":y", attr.Int(now+1)) + " AND " +
		r.value(":h", attr.Int(now+(turnFor+turnSlack).Milliseconds())) + ")")
}

// turnGuard lets an entry that has yielded find out whether it must go on yielding. Other sends lack it: a node that has not seen the
// turn learns of it from the answer, so each other node refuses the Put at most once.
func (r *request) turnGuard(e *Entry, known Known, env Env) {
	if e.yieldsTo(known.Side, env) {
		r.noTurn(env)
	}
}

// handleTurn handles the answer to asking. A turn of the entry's own comes from an earlier request whose answer was lost.
func (t *answering) handleTurn() {
	err := t.ans.Err
	switch {
	case err == nil:
		t.recordImage(t.ans.Image)
		return
	case err.Class != ConditionFailed:
		t.fails()
		return
	}
	t.recordImage(err.Old)
	t.e.resetRefusals(err.Old)
	if !t.e.hasTurn(t.o.Known[0].Side) {
		t.decide(facts{image: err.Old, unsure: t.e.Unsure})
	}
}

// resetRefusals resets the entry's count of refusals if the answer shows no item: then nobody keeps writing it, and nothing could carry a
// turn.
func (e *Entry) resetRefusals(image attr.Item) {
	if image == nil {
		e.Refused = 0
	}
}

// handleTurn handles the same answer for an entry of a transaction.
func (t *answeringAll) handleTurn() {
	i, err := t.lead.met.turn, t.ans.Err
	switch {
	case err == nil:
		t.recordImage(i, t.ans.Image)
		return
	case err.Class != ConditionFailed:
		t.handleUnexpected()
		return
	}
	t.recordImage(i, err.Old)
	t.u.Entries[i].resetRefusals(err.Old)
	switch {
	case t.u.Entries[i].hasTurn(t.o.Known[i].Side):
	case t.u.unsure():
		t.lead.step = stepProof
	default:
		worst := ruling{v: verdictAgain}
		worst.add(t.judgeImage(i, err.Old))
		t.act(worst)
	}
}
