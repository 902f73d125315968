package threefc

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/table"
)

// unansweredWrites returns the writes of requests that no other node has answered, in order. A merge's transaction may hold several requests,
// each starting with the row of its key. A transaction's checks come with its first write; here they go with each request that is left.
func unansweredWrites(get Get, all, behind []Refused) (left []Refused) {
	var of [][]Refused // by request
	for _, part := range [][]Refused{all, behind} {
		for i, r := range part {
			if i == 0 || r.Txn != part[i-1].Txn || inPK(r, pkOnce) {
				of = append(of, nil)
			}
			of[len(of)-1] = append(of[len(of)-1], r)
		}
	}
	checks := map[uint64][]store.WriteItem{}
	for _, rows := range of {
		txn := rows[0].Txn
		for i := range rows {
			checks[txn] = append(checks[txn], slices.DeleteFunc(slices.Clone(rows[i].Again), func(w store.WriteItem) bool { return w.Check == nil })...)
		}
		if !slices.ContainsFunc(rows, func(r Refused) bool { return isAnswered(r, get) }) {
			rows[0].Again = slices.Concat(rows[0].Again, checks[txn])
			left = append(left, rows...)
		}
	}
	return left
}

// item returns the item that the refused write puts, or nil if it is not a put.
func item(r Refused) attr.Item {
	if len(r.Again) > 0 && r.Again[0].Put != nil {
		return r.Again[0].Put.Item
	}
	return nil
}

// isAnswered reports whether r is the row of a key already used elsewhere for the same request, or of a correction already made there.
func isAnswered(r Refused, get Get) bool {
	if isKeyUsed(r) || item(r) == nil || !inPK(r, pkOnce) && !inSK(r, skOperation) {
		return isKeyUsed(r)
	}
	row, err := get(r.Key)
	return err == nil && (inSK(r, skOperation) && row != nil || idempotency.SameRequest(item(r), row))
}

// mergeCorrected withdraws our copy of a record that another node created for the same request, and applies our later changes to theirs.
func (s *Service) mergeCorrected(get Get, all, behind []Refused) (writes []store.WriteItem, ok bool) {
	p := s.plan(nil)
	var goal Refused // its last write
	left := unansweredWrites(get, all, behind)
	ours, theirs := p.twins(get, all)
	for i := range left {
		r := p.rewriteForGoal(left[i], ours, theirs)
		switch {
		case len(r.Again) == 0:
			return nil, false
		case inPK(r, pkGame) && p.isBuried(get, r.Key["pk"].Str()):
			return nil, true // the game and every change to it are gone
		case isExport(r):
		case inPK(r, pkGame) && inSK(r, skGoal):
			goal = r
			p.again(r.Again[1:])
		case inPK(r, pkGame) && inSK(r, skGone) && theirs != nil: // refused if the goal has been taken back there
			p.again([]store.WriteItem{p.Put(item(r), table.IfTrue(absent, nil))})
		case p.requeueWrite(get, slices.Concat(all, behind), r):
		case inPK(r, pkGame) && inSK(r, pkPlayer): // a player assigned there too keeps that team
			return nil, p.Err() == nil
		default:
			return nil, false
		}
	}
	switch {
	case goal.Key == nil:
	case theirs == nil:
		return nil, false
	case p.isTakenBack(get, theirs) && item(goal) == nil:
		return nil, p.Err() == nil // already deleted there
	case p.isTakenBack(get, theirs):
		lost := p.goal(item(goal))
		lost.EventID, lost.Moment = theirs.EventID, theirs.Moment
		return s.keepNote(&lost)
	default: // after the key rows: another refusal then belongs to the last request
		p.rewritten(all, behind, goal, theirs)
	}
	return p.Writes, p.Err() == nil
}

// twins returns the id of the goal that refused writes make or change here, and that goal as another node made it or has it; nil if there is none.
func (p *plan) twins(get Get, all []Refused) (ours string, theirs *Goal) {
	i := slices.IndexFunc(all, func(r Refused) bool { return inPK(r, pkGame) && inSK(r, skGoal) })
	switch {
	case i < 0:
		return "", nil
	case all[i].Remote != nil:
		was := p.goal(all[i].Remote)
		return was.EventID, &was
	case item(all[i]) == nil || !slices.ContainsFunc(all, makesGoal):
		return "", nil
	}
	was := p.theirs(get, all, p.goal(item(all[i])))
	return p.goal(item(all[i])).EventID, &was
}

// rewriteForGoal returns a write about the goal that this node made as one about the goal that another node made for the same request.
func (p *plan) rewriteForGoal(r Refused, ours string, theirs *Goal) Refused {
	if theirs == nil || ours == theirs.EventID || !inPK(r, pkGame) || len(r.Again) == 0 {
		return r
	}
	facts := func(f *GoalFacts) {
		if f != nil {
			f.EventID, f.Moment = theirs.EventID, theirs.Moment
		}
	}
	switch {
	case r.Key["sk"].Str() == skMarker+ours && r.Again[0].Delete != nil:
		r.Key = markerKey(theirs.GameID, theirs.EventID)
		r.Again = slices.Concat([]store.WriteItem{p.Drop(r.Key)}, r.Again[1:])
	case item(r) == nil:
	case inSK(r, skGone):
		changeRecord(p, &r, func(g *gone) { g.EventID, g.Changed, g.Unseen = theirs.EventID, theirs.UpdatedAt, theirs.unseen })
	case inSK(r, skAudit):
		changeRecord(p, &r, func(a *Audit) { a.EventID = theirs.EventID; facts(a.Before); facts(a.After) })
	case inSK(r, skOperation):
		changeRecord(p, &r, func(o *operation) {
			o.EventID, o.Result.Audit.EventID = theirs.EventID, theirs.EventID
			facts(o.Result.Audit.Before)
			facts(o.Result.Audit.After)
		})
	}
	return r
}

// changeRecord changes the record that r puts.
func changeRecord[T any, P stamped[T]](p *plan, r *Refused, change func(*T)) {
	v, err := decode[T, P](item(*r))
	p.Fail(err)
	change(&v)
	row, err := encode[T, P](r.Key, v)
	p.Fail(err)
	put := *r.Again[0].Put
	put.Item = maps.Clone(put.Item)
	maps.Copy(put.Item, row)
	r.Again = slices.Concat([]store.WriteItem{{Put: &put}}, r.Again[1:])
}

// isBuried reports whether the partition pk was deleted.
func (p *plan) isBuried(get Get, pk string) bool {
	meta, err := get(key(pk, skMeta))
	p.Fail(err)
	row, err := get(deletedKey(pk))
	p.Fail(err)
	return meta == nil && row != nil
}

// requeueWrite queues a write again. If it builds on a row that another refused transaction put, it is made conditional on the row that is here by
// now: if that has the same data, as another node created it. Otherwise onto reports false. An unconditional write stays as it is.
func (p *plan) requeueWrite(get Get, all []Refused, r Refused) bool {
	row, err := get(r.Key)
	p.Fail(err)
	known, same := false, false
	for i := range all {
		if o := all[i]; o.Txn != r.Txn && attr.EqualItems(o.Key, r.Key) && item(o) != nil {
			known, same = true, same || row != nil && item(o)["data"].Equal(row["data"])
		}
	}
	only := unchangedSince(Stamps{UpdatedAt: row["updatedAt"].Str(), raw: row["data"].Str()})
	switch w := r.Again[0]; {
	case !known, w.Put != nil && w.Put.Condition == "", w.Delete != nil && w.Delete.Condition == "":
		p.again(r.Again[:1])
	case same && w.Put != nil:
		now := maps.Clone(w.Put.Item)
		now["createdAt"] = row["createdAt"]
		p.again([]store.WriteItem{p.Put(now, only)})
	case same && w.Delete != nil:
		p.again([]store.WriteItem{p.Delete(r.Key, only)})
	default:
		return false
	}
	p.again(r.Again[1:])
	return true
}

// rewritten applies our last change of a goal to the copy that another node created, unless it has been taken back there. If that copy was
// edited there to something it never said here, a person decides.
func (p *plan) rewritten(all, behind []Refused, last Refused, was *Goal) {
	p.Refuse(!slices.ContainsFunc(slices.Concat(all, behind), func(r Refused) bool {
		said, err := decode[Audit](item(r))
		return err == nil && inSK(r, skAudit) && said.After != nil && reflect.DeepEqual(said.After.Scored, was.Scored)
	}), conflict("goal_state_changed", "The goal was changed at another node."))
	only := unchangedSince(was.Stamps)
	if was.unseen {
		only.Condition = absent + " OR " + only.Condition
	}
	k := key(last.Key["pk"].Str(), was.sk)
	switch {
	case item(last) == nil && was.unseen: // the row that says so removes it
		return
	case item(last) == nil:
		p.Write(p.Delete(k, only))
		return
	}
	p.notGone(was)
	ours, now := p.goal(item(last)), *was
	now.Scored, now.UpdatedAt = ours.Scored, ours.UpdatedAt
	put(p, k, now, only)
}

func (p *plan) goal(row attr.Item) Goal {
	g, err := decode[Goal](row)
	p.Fail(err)
	return g
}

// theirs returns the goal that another node created for the request for which we created was. It has another id and maybe another minute in its
// key than ours, and does not arrive with the refusal; until it has arrived it is reconstructed from the Idempotency-Key's row.
func (p *plan) theirs(get Get, all []Refused, was Goal) Goal {
	ids := map[string]string{}
	for _, r := range all {
		if isKeyUsed(r) && idempotency.IDs(r.Remote)[idClock] != "" {
			ids = idempotency.IDs(r.Remote)
		}
	}
	third, elapsed := 0, 0
	_, err := fmt.Sscanf(ids[idClock], "%d#%d", &third, &elapsed)
	p.Fail(err)
	row, err := get(gameKey(was.GameID))
	p.Fail(err)
	g, err := decode[Game](row)
	p.Fail(err)
	was.EventID, was.Moment = ids["event"], MomentAt(cmp.Or(g.ThirdLengthMinutes, usualLength), third, elapsed)
	at, _, _ := strings.Cut(ids["audit"], "#")
	was.Stamps = Stamps{CreatedAt: at, UpdatedAt: at}
	k := goalKey(was.GameID, third, was.GameMinute, was.EventID)
	row, err = get(k)
	p.Fail(err)
	if row != nil {
		return p.goal(row)
	}
	row, err = encode(k, was)
	p.Fail(err)
	was = p.goal(row)
	was.unseen = true
	return was
}
