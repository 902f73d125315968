package intent

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// SettleAnswer returns what an answer to an action means and records in the entries what must be remembered. If the entries stay, the caller
// stores them in the transaction in which it acts on the outcome. known holds the bases of the entries' items, in order.
func (u *Batch) SettleAnswer(a Action, ans Answer, known []Known, env Env) Outcome {
	o := u.outcome(OutAgain)
	if ans.Err != nil && u.common(a, ans.Err, &o) {
		return o
	}
	if u.multi() {
		u.takeAll(a, ans, known, env, &o)
		return o
	}
	t := answering{u: u, e: u.Entries[0], a: a, ans: ans, known: known[0], env: env, o: &o}
	t.handleAnswer()
	return o
}

func (u *Batch) outcome(r Result) Outcome {
	return Outcome{Result: r, Known: make([]*Known, len(u.Entries)), Met: make([]attr.Item, len(u.Entries))}
}

// common handles the answers that mean the same for every action; false: not one of them.
func (u *Batch) common(a Action, err *Error, o *Outcome) bool {
	switch err.Class {
	case Unknown:
		o.Result = OutUnknown
		return true
	case Throttled:
		o.Result = OutThrottled
	case Offline:
		o.Result = OutOffline
	case Credentials:
		o.Result, o.Alarm = OutRefresh, "the cloud does not accept the credentials, or the clock is wrong"
	case NoTable, Denied:
		o.Result, o.Table = OutStopTable, u.refusedTable(&a, err)
		o.Alarm = "table " + o.Table + ": " + err.Class.String()
		if o.Table == "" {
			o.Alarm = "one of its tables: " + err.Class.String()
		}
	case Canceled:
		if !transient(err.Reasons) {
			return false
		}
		o.Result = OutThrottled
	default:
		return false
	}
	u.notSent(a)
	return true
}

// notSent undoes what Attempt recorded: the answer says that the call did not apply.
func (u *Batch) notSent(a Action) {
	for i, e := range u.Entries {
		if i < len(a.unsure) {
			e.Unsure = a.unsure[i]
		}
	}
}

// wasUnsure reports whether an earlier send of an entry is unanswered.
func (a *Action) wasUnsure(i int, e *Entry) bool {
	if i < len(a.unsure) {
		return a.unsure[i]
	}
	return e.Unsure
}

// refusedTable returns the table that is missing in the cloud or denied to this node. With several tables, only some answers say
// which. It returns "" if nobody knows, or if it is not one of the batch's items.
func (u *Batch) refusedTable(a *Action, err *Error) (table string) {
	asked := a.tables()
	for _, name := range asked { // prefer the longest: one name may be part of another
		if len(name) > len(table) && (len(asked) == 1 || err.Err != nil && strings.Contains(err.Err.Error(), name)) {
			table = name
		}
	}
	first := u.Entries[0].Table
	switch {
	case table == "" && !slices.ContainsFunc(u.Entries, func(e *Entry) bool { return e.Table != first }):
		return first
	case slices.ContainsFunc(u.Entries, func(e *Entry) bool { return e.Table == table }):
		return table
	}
	return ""
}

// tables returns the names of the tables that an action uses.
func (a *Action) tables() (names []string) {
	for i := range a.Calls {
		names = append(names, a.Calls[i].Table)
	}
	for i := range a.Reads {
		names = append(names, a.Reads[i].Table)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// transient reports whether a transaction collided with another or was throttled.
func transient(reasons []Reason) bool {
	for _, r := range reasons {
		if r.Class == Throttled || r.Class == Unknown {
			return true
		}
	}
	return false
}

// taking is the handling of one answer about a single entry.
type answering struct {
	u     *Batch
	e     *Entry
	a     Action
	ans   Answer
	known Known
	env   Env
	o     *Outcome
}

func (t *answering) handleAnswer() {
	switch t.a.step {
	case stepSend:
		t.handleOperation()
	case stepLabel:
		t.handleLabel()
	case stepDead:
		t.rowWritten()
	case stepTurn:
		t.handleTurn()
	case stepLock:
		t.handleLockRead(t.item(0))
	case stepAlive:
		t.alive()
	case stepValidate:
		t.handleInvalid()
	case stepClose:
		t.handleMarkClosed()
	case stepHold:
		t.handleHold()
	case stepLost:
		t.handleLostTimeline()
	case stepLeave:
		t.handleClosedMark()
	case stepReplay:
		t.handleReplayRead()
	case stepProof:
		t.handleProofReads()
	case stepImages: // only for transactions
	}
}

func (t *answering) item(i int) attr.Item {
	if i < len(t.ans.Items) {
		return t.ans.Items[i]
	}
	return nil
}

// fails handles an unexpected answer to a call other than the operation: the call is repeated.
func (t *answering) fails() bool {
	if t.ans.Err == nil {
		return false
	}
	t.o.Result = OutUnknown
	t.o.Alarm = "an unexpected answer: " + t.ans.Err.Class.String()
	return true
}

// recordImage records the image that an answer has shown.
func (t *answering) recordImage(image attr.Item) {
	item, side := Split(image)
	t.o.Known[0] = &Known{Item: item, Side: side}
}

// handleOperation handles the answer to the operation.
func (t *answering) handleOperation() {
	err := t.ans.Err
	if err == nil {
		t.settleApplied()
		return
	}
	unsure := t.a.wasUnsure(0, t.e)
	t.u.notSent(t.a)
	switch err.Class {
	case ConditionFailed:
		t.recordImage(err.Old)
		t.decide(facts{image: err.Old, unsure: unsure})
	case Canceled:
		t.handleCanceled(err.Reasons, unsure)
	case Validation:
		t.e.step = stepValidate
	case TooLarge:
		t.poison(CodeTooLarge, textTooLarge)
	default:
		t.o.Result = OutUnknown
	}
}

func (t *answering) settleApplied() {
	t.o.Result = OutApplied
	image := t.ans.Image
	if image == nil {
		image = imageAfter(t.a.Calls[0])
	}
	t.recordImage(image)
}

// imageAfter returns the image that a Put, or an update without an item, leaves: a transaction does not return it. nil for a delete.
func imageAfter(c Call) attr.Item {
	if c.Update == "" {
		return c.Item
	}
	u, err := expr.ParseUpdate(c.Update, c.Params)
	if err != nil {
		return nil
	}
	image, err := u.Apply(c.Key)
	if err != nil {
		return nil
	}
	return image
}

// handleCanceled handles the answer to a create that was sent with conditions on other rows.
func (t *answering) handleCanceled(reasons []Reason, unsure bool) {
	refused := func(r Reason) bool { return r.Class == ConditionFailed }
	if t.e.proves(t.env) && (unsure && slices.ContainsFunc(reasons, refused) || len(reasons) > 1 && refused(reasons[1])) {
		t.e.step = stepProof // the reasons may be incomplete
		return
	}
	f := facts{unsure: unsure}
	lock := false
	for i := 1; i < len(t.a.Calls) && i < len(reasons); i++ {
		if reasons[i].Class != ConditionFailed {
			continue
		}
		switch t.a.Calls[i].Table {
		case t.env.SyncTable:
			f.dead = true
		case t.env.LockTable:
			lock = true
		}
	}
	own := Reason{}
	if len(reasons) > 0 {
		own = reasons[0]
	}
	switch {
	case own.Class == ConditionFailed:
		f.image = own.Old
		t.recordImage(own.Old)
		t.decide(f)
	case own.Class == Validation:
		t.e.step = stepValidate
	case own.Class == TooLarge:
		t.poison(CodeTooLarge, textTooLarge)
	case lock || f.dead:
		// The item may exist all the same, with our mark: the reasons may be incomplete.
		if unsure {
			t.e.step = stepAlive
			return
		}
		t.judgeOtherRows(f.dead, lock)
	default:
		t.o.Result = OutUnknown
	}
}

// judgeOtherRows decides about a create that other rows refused.
func (t *answering) judgeOtherRows(dead, lock bool) {
	if dead {
		t.settleEntry(supersededAs(CodeTombstone, textTombstone))
		return
	}
	if lock {
		t.settleEntry(t.e.fencedOff(0))
	}
}

// decide acts on what an image says about the entry.
func (t *answering) decide(f facts) {
	if f.unsure && t.e.proves(t.env) {
		t.e.step = stepProof
		return
	}
	f.before = t.known
	v, d := t.e.judgeRefusal(f, t.env)
	switch v {
	case verdictApplied:
		t.proven(f.image)
	case verdictTimeline:
		t.o.Result, t.o.Alarm = OutTimeline, textTimeline
	case verdictAsk:
		t.e.step = stepAlive
	case verdictPark:
		t.o.Result, t.o.After = OutParked, t.e.NotBefore.Sub(t.env.Now)
	case verdictDecided:
		t.closeFirst(d, f.image)
	case verdictAgain:
		t.e.step = stepSend
	}
}

// proven settles an entry whose effect an image proves. If a create was sent more than once, another copy may still be on its way,
// since the answered send need not be the one that applied. Until then its life must not be deleted.
func (t *answering) proven(image attr.Item) {
	t.recordImage(image)
	t.e.step, t.o.Result = stepSend, OutApplied
	copies := t.e.Sent
	if t.a.step == stepSend { // this send was answered
		copies--
	}
	if life := lifeOf(*t.o.Known[0]); t.e.creates() && !t.e.proves(t.env) && copies > 1 && life.ID != "" {
		t.e.step, t.e.met.on, t.o.Result = stepHold, life, OutAgain
	}
}

// handleHold handles the answer to the hold on the life of an applied create.
func (t *answering) handleHold() {
	switch err := t.ans.Err; {
	case err == nil:
		t.recordImage(t.ans.Image)
	case err.Class == ConditionFailed:
		t.recordImage(err.Old) // the life has already ended
	default:
		t.fails()
		return
	}
	t.o.Result = OutApplied
}

// closeFirst closes the mark if a copy of the entry could still apply, then carries out the decision.
func (t *answering) closeFirst(d decision, image attr.Item) {
	item, side := Split(image)
	t.o.Met[0] = image
	on := lifeOf(Known{Item: item, Side: side})
	open := item != nil && (t.e.Unsure || t.e.Late) && !t.e.Closed && !t.e.shutOut(side, t.env.Node) && t.e.reaches(on)
	if t.e.proves(t.env) {
		open = t.e.Unsure && !t.e.Closed
	}
	if !open {
		t.settleEntry(d)
		return
	}
	t.e.step, t.e.met.decision, t.e.met.on, t.e.met.image = stepClose, d, on, image
}

// shutOut reports whether an item carries a greater mark of ours, as after a restore of the cloud: no copy can apply there.
func (e *Entry) shutOut(side Sidecar, node string) bool {
	order, _ := attr.Compare(side.Marks[node], e.closedMark())
	return side.Marks[node].Kind() == attr.KindN && order > 0
}

// reaches reports whether a copy of an earlier send could still apply to a life, or to a later one.
func (e *Entry) reaches(on Life) bool {
	return e.creates() || e.Late || e.Life == on
}

func (t *answering) settleEntry(d decision) {
	t.o.Result, t.o.Code, t.o.Text = d.result, d.code, d.text
	if d.code == CodeFencedOff {
		t.o.Lock, t.o.Fence = t.e.Lock, d.fence
	}
}

// poison quarantines the entry.
func (t *answering) poison(code Code, text string) {
	t.e.step = stepSend
	t.o.Result, t.o.Code, t.o.Text = OutQuarantine, code, text
	t.o.Alarm = "a write to table " + t.e.Table + " is quarantined: " + text
}
