package intent

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// WhyTransactions parks a transaction that was accepted while the cloud had transactions, which it now lacks.
const WhyTransactions = "transactions"

// nextAll is Next for a transaction. Its first entry records what it has to find out.
func (u *Batch) nextAll(known []Known, env Env) Action {
	lead := u.Entries[0]
	proof := syncRef(lead.proofID(env), env)
	switch {
	case lead.step == stepProof, lead.lost, u.overdue(env) && lead.step == stepSend, lead.step == stepSend && lead.replay && !lead.met.ready:
		return read(stepProof, append([]Ref{proof}, u.refs()...)...)
	case lead.step == stepImages || lead.step == stepValidate:
		return read(lead.step, u.refs()...)
	case lead.step == stepClose:
		return send(stepClose, proofCall(lead, true, env))
	case !env.Transactions:
		return *park(WhyTransactions, env.Now.Add(time.Minute))
	}
	for i, e := range u.Entries {
		if a := e.wait(known[i], env); a != nil {
			return *a
		}
		e.restamp(known[i].Side, env)
		if e.needsDead(env) {
			lead.met.dead = i
			return send(stepDead, deadCall(e.Life.ID, env))
		}
	}
	for i, e := range u.Entries { // once none of them yields
		if e.needsTurn(known[i].Side, env) {
			lead.met.turn = i
			return send(stepTurn, turnCall(e, env))
		}
	}
	return Action{Kind: ActSend, Calls: u.calls(known, env), Transact: true, Attempt: true, step: stepSend}
}

// calls returns the transaction: the entries, its conditions and its proof.
func (u *Batch) calls(known []Known, env Env) []Call {
	lead := u.Entries[0]
	calls := make([]Call, 0, len(u.Entries)+len(lead.Checks)+1)
	for i, e := range u.Entries {
		calls = append(calls, build(e, known[i], env))
	}
	for i := range lead.Checks {
		calls = append(calls, checkCall(&lead.Checks[i]))
	}
	return append(calls, proofCall(lead, false, env))
}

func (u *Batch) refs() []Ref {
	refs := make([]Ref, len(u.Entries))
	for i, e := range u.Entries {
		refs[i] = e.ref()
	}
	return refs
}

// unsure reports whether a send of the transaction is unanswered.
func (u *Batch) unsure() bool {
	for _, e := range u.Entries {
		if e.Unsure {
			return true
		}
	}
	return false
}

// overdue reports whether the transaction has been unanswered for so long that its proof may expire.
func (u *Batch) overdue(env Env) bool {
	return slices.ContainsFunc(u.Entries, func(e *Entry) bool { return e.overdue(env) })
}

// takeAll is SettleAnswer for a transaction.
func (u *Batch) takeAll(a Action, ans Answer, known []Known, env Env, o *Outcome) {
	lead := u.Entries[0]
	t := answeringAll{u: u, lead: lead, a: a, ans: ans, known: known, env: env, o: o}
	if ans.Err != nil && a.step != stepSend && a.step != stepClose && a.step != stepTurn {
		t.handleUnexpected()
		return
	}
	switch a.step {
	case stepSend:
		t.handleTransaction()
	case stepDead:
		u.Entries[lead.met.dead].Dead = true
	case stepTurn:
		t.handleTurn()
	case stepProof:
		t.handleProofReads()
	case stepImages:
		t.settleApplied(ans.Items)
	case stepValidate:
		t.handleInvalid()
	case stepClose:
		t.handleStopped()
	case stepLabel, stepLock, stepAlive, stepHold, stepLost, stepLeave, stepReplay: // only for single entries
	}
}

// takingAll is the handling of one answer about a transaction.
type answeringAll struct {
	u     *Batch
	lead  *Entry
	a     Action
	ans   Answer
	known []Known
	env   Env
	o     *Outcome
}

func (t *answeringAll) handleUnexpected() {
	t.o.Result, t.o.Alarm = OutUnknown, "an unexpected answer: "+t.ans.Err.Class.String()
}

func (t *answeringAll) recordImage(i int, image attr.Item) {
	item, side := Split(image)
	t.o.Known[i] = &Known{Item: item, Side: side}
	t.o.Met[i] = image
}

// settleApplied settles the transaction. images are its items, read after it was applied.
func (t *answeringAll) settleApplied(images []attr.Item) {
	t.o.Result = OutApplied
	for i := range t.u.Entries {
		if i < len(images) {
			t.recordImage(i, images[i])
		}
	}
	t.o.Met = make([]attr.Item, len(t.u.Entries))
}

// handleTransaction handles the answer to the transaction. It contains no images, so they are read next.
func (t *answeringAll) handleTransaction() {
	err := t.ans.Err
	if err == nil {
		t.lead.step = stepImages
		return
	}
	t.u.notSent(t.a)
	switch err.Class {
	case Canceled:
		t.handleCanceled(err.Reasons)
	case Validation:
		t.lead.step = stepValidate
	case TooLarge:
		t.poison(CodeTooLarge, textTooLarge)
	default:
		t.handleUnexpected()
	}
}

func (t *answeringAll) handleCanceled(reasons []Reason) {
	n := len(t.u.Entries)
	at := n + len(t.lead.Checks)
	if at < len(reasons) && reasons[at].Class == ConditionFailed {
		t.handleProof(reasons[at].Old)
		return
	}
	for i := range reasons {
		switch reasons[i].Class {
		case Validation:
			t.lead.step = stepValidate
			return
		case TooLarge:
			t.poison(CodeTooLarge, textTooLarge)
			return
		}
	}
	if t.u.unsure() { // the reasons may be incomplete: read the proof
		t.lead.step, t.lead.met.decision = stepProof, decision{}
		for i := n; i < at && i < len(reasons); i++ {
			if reasons[i].Class == ConditionFailed {
				t.lead.met.decision = conflict(CodeCondition, textCondition)
			}
		}
		return
	}
	worst := ruling{v: verdictAgain}
	for i, r := range reasons {
		if r.Class != ConditionFailed {
			continue
		}
		switch {
		case i < n:
			t.recordImage(i, r.Old)
			worst.add(t.judgeImage(i, r.Old))
		case i < at:
			worst.add(verdictDecided, conflict(CodeCondition, textCondition))
		}
	}
	t.act(worst)
}

// handleProof handles an existing proof row.
func (t *answeringAll) handleProof(row attr.Item) {
	switch {
	case row[syncClosed].Bool():
		t.lead.Closed = true
		d := t.lead.met.decision
		if d.result == 0 {
			d = conflict(CodeCondition, textCondition)
		}
		t.settleEntries(d)
	case t.u.unsure() || t.lead.Sent > 1:
		t.lead.step = stepImages
	default:
		t.o.Result, t.o.Alarm = OutTimeline, textTimeline
	}
}

// ruling is the verdict about a transaction: the weightiest one about its entries.
type ruling struct {
	v verdict
	d decision
}

func (r *ruling) add(v verdict, d decision) {
	weight := [...]int{verdictAgain: 0, verdictAsk: 0, verdictApplied: 0, verdictPark: 1, verdictDecided: 2, verdictTimeline: 3}
	switch {
	case weight[v] > weight[r.v], v == verdictDecided && r.v == verdictDecided && r.d.result == OutSuperseded:
		r.v, r.d = v, d
	}
}

// judgeImage returns what an image means for one entry. The missing proof means that nothing was applied.
func (t *answeringAll) judgeImage(i int, image attr.Item) (verdict, decision) {
	e := t.u.Entries[i]
	unsure := e.Unsure
	v, d := e.judgeRefusal(facts{image: image, alive: true, before: t.known[i]}, t.env)
	e.Unsure = unsure
	return v, d
}

func (t *answeringAll) act(r ruling) {
	t.lead.step = stepSend
	switch r.v {
	case verdictDecided:
		if t.u.unsure() && !t.lead.Closed {
			t.lead.step, t.lead.met.decision = stepClose, r.d
			return
		}
		t.settleEntries(r.d)
	case verdictTimeline:
		t.o.Result, t.o.Alarm = OutTimeline, textTimeline
	case verdictPark:
		t.o.Result = OutParked
		for _, e := range t.u.Entries {
			t.o.After = max(t.o.After, e.NotBefore.Sub(t.env.Now))
		}
	case verdictAgain, verdictApplied, verdictAsk:
	}
}

func (t *answeringAll) settleEntries(d decision) {
	t.o.Result, t.o.Code, t.o.Text = d.result, d.code, d.text
	if d.code == CodeFencedOff {
		t.o.Lock, t.o.Fence = t.lead.Lock, d.fence
	}
}

func (t *answeringAll) poison(code Code, text string) {
	t.lead.step = stepSend
	t.o.Result, t.o.Code, t.o.Text = OutQuarantine, code, text
	t.o.Alarm = "a transaction on table " + t.lead.Table + " is quarantined: " + text
}

// handleProofReads handles the reads that show whether an unanswered transaction was applied, and its items now.
func (t *answeringAll) handleProofReads() {
	if len(t.ans.Items) != len(t.u.Entries)+1 {
		t.lead.step = stepSend
		return
	}
	row, images := t.ans.Items[0], t.ans.Items[1:]
	t.lead.step = stepSend
	if t.u.onlyHere(t.env) {
		t.onlyHere(row, images)
		return
	}
	if t.lead.anothers(t.env) {
		t.handleLostTimeline(images)
		return
	}
	lost := t.lead.lost
	settled := lost && t.lead.settledThere(t.env)
	for _, e := range t.u.Entries {
		if e.lost {
			e.lost, e.Unsure, e.Sent = false, true, max(e.Sent, 1)
		}
	}
	switch {
	case row != nil && !row[syncClosed].Bool():
		t.settleApplied(images)
		return
	case row != nil:
		t.handleProof(row)
		return
	case settled:
		for i := range t.u.Entries {
			t.recordImage(i, images[i])
		}
		t.settleEntries(conflict(CodeLost, textLost))
		return
	case t.lead.replay && !t.lead.met.ready:
		t.handleReplayRead(images)
		return
	case !t.lead.replay && t.isMarked(images):
		t.settleApplied(images)
		return
	case t.u.overdue(t.env):
		for i := range t.u.Entries {
			t.recordImage(i, images[i])
		}
		t.act(ruling{v: verdictDecided, d: conflict(CodeUnknown, textUnanswered)})
		return
	}
	worst := ruling{v: verdictAgain}
	for i, e := range t.u.Entries {
		t.recordImage(i, images[i])
		switch item, side := Split(images[i]); {
		case lost && e.outdone(side, t.env): // its mark can never pass, and only the proof could have told more
			worst.add(verdictDecided, conflict(CodeLost, textLost))
		case !e.fits(item, side, t.env):
			worst.add(t.judgeImage(i, images[i]))
		}
	}
	if d := t.lead.met.decision; d.result != 0 { // a condition on another row failed
		worst.add(verdictDecided, d)
	}
	t.act(worst)
}

// isMarked reports whether an item carries the transaction's mark. The proof may be gone with its table or past its expiry. One
// mark proves the whole transaction, because no part applies without the rest; parts that a table lost by a restore are
// replayed separately.
func (t *answeringAll) isMarked(images []attr.Item) bool {
	for i, e := range t.u.Entries {
		if _, side := Split(images[i]); side.Marks[t.env.Node].Equal(e.Mark()) {
			return true
		}
	}
	return false
}

// fits reports whether an entry's condition and guards hold on an image, apart from guards that another send renews.
func (e *Entry) fits(item attr.Item, side Sidecar, env Env) bool {
	return e.Life.matches(item, side) && e.holds(item, env.Exprs) && (!e.hasTimeGuard() || !e.isOlder(side, env)) &&
		(e.Op != store.OpDelete || side.Hold < env.Now.UnixMilli())
}

// handleInvalid handles the items of an invalid transaction.
func (t *answeringAll) handleInvalid() {
	t.lead.step = stepSend
	worst := ruling{v: verdictAgain}
	for i, e := range t.u.Entries {
		if i >= len(t.ans.Items) {
			return
		}
		image := t.ans.Items[i]
		t.recordImage(i, image)
		item, side := Split(image)
		if !e.fits(item, side, t.env) {
			worst.add(t.judgeImage(i, image))
			continue
		}
		if _, err := e.apply(item, t.env.Exprs); err != nil {
			worst.add(verdictDecided, conflict(CodeUnfit, textUnfit))
		}
	}
	if worst.v == verdictAgain && t.lead.met.again {
		t.poison(CodeInvalid, textInvalid)
		return
	}
	t.lead.met.again = true
	t.act(worst)
}

// handleStopped handles the answer to the row that stops the transaction from ever applying.
func (t *answeringAll) handleStopped() {
	err := t.ans.Err
	switch {
	case err == nil:
		t.lead.Closed, t.lead.step = true, stepSend
		t.settleEntries(t.lead.met.decision)
	case err.Class == ConditionFailed:
		t.lead.step = stepSend
		t.handleProof(err.Old)
	default:
		t.handleUnexpected()
	}
}
