package threefc

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/table"
)

// Refused is a write of a transaction that the cloud refused, or a later write queued behind one.
type Refused = table.Refused

func inSK(r Refused, prefix string) bool { return strings.HasPrefix(r.Key["sk"].Str(), prefix) }

func inPK(r Refused, prefix string) bool { return strings.HasPrefix(r.Key["pk"].Str(), prefix) }

// isKeyUsed reports whether r is the row of an Idempotency-Key that another node has used for the same request.
func isKeyUsed(r Refused) bool { return inPK(r, pkOnce) && idempotency.SameRequest(r.View, r.Remote) }

// isChangedElsewhere reports whether another node changed the row.
func isChangedElsewhere(r Refused) bool { return !attr.EqualItems(r.Base, r.Remote) }

// game returns the row of the game that the writes belong to, or nil if it was deleted.
func game(get Get, all []Refused) (row attr.Item) {
	for _, r := range all {
		if inPK(r, pkGame) {
			row, _ = get(key(r.Key["pk"].Str(), skMeta)) // a row that cannot be read counts as deleted
		}
	}
	return row
}

// says reports whether the cloud's row has the same data as ours.
func says(r Refused) bool {
	return r.View != nil && r.Remote != nil && r.View["data"].Equal(r.Remote["data"])
}

// acceptsElsewhere reports whether r accepts an invite that was accepted elsewhere first.
func acceptsElsewhere(r Refused) bool {
	by := func(it attr.Item) bool {
		in, err := decode[Invite](it)
		return err == nil && in.AcceptedByUserID != nil
	}
	return inPK(r, pkInvite) && r.View != nil && r.Remote != nil && by(r.View) && by(r.Remote)
}

// removal reports whether r removes a row, invite or join code of something that was deleted, or a session without games.
func removal(r Refused) bool {
	removes := r.View == nil || len(r.Again) > 0 && r.Again[0].Delete != nil
	return removes && (!inSK(r, skMeta) || inPK(r, pkInvite) || inPK(r, pkJoin) || inPK(r, pkSession))
}

func state(r Refused) bool { return inSK(r, skState) }

// isExport reports whether r is only an export.
func isExport(r Refused) bool {
	return inPK(r, pkGame) && (inSK(r, skState) || inSK(r, skTeam)) && len(r.Again) == 1
}

// placing reports whether r belongs to a request that assigned a player to a team or took him out of one.
func placing(r Refused) bool {
	return inPK(r, pkOnce) || inPK(r, pkGame) && (inSK(r, skRoster) || inSK(r, pkPlayer))
}

// Get reads a row; it returns nil if there is none.
type Get = func(key attr.Item) (attr.Item, error)

// Merge resolves a transaction that the cloud refused. It returns the writes to send instead, or none to drop ours; ok is false if a
// person must decide, as for everything not listed here. behind holds later writes that fall with the transaction, without images.
// If the resolution does not cover them, a person decides, so that nothing people have done is lost.
//
//	row of a key that another node has used for the same     it has taken effect once: ours is withdrawn, whatever else failed; later
//	                                                         writes are applied to the other node's rows
//	tallies, state, result                                    an export: the consumer recomputes them
//	removal of a deleted partition's rows                     the record is in use, or was created again: nothing to do
//	a token, a code or an invite that was used elsewhere      the session or role that ours created is dropped with it
//	a goal of a game that is finished                        it counts if it was tapped before, as does what was changed of it since;
//	                                                         so do corrections from before the finish
//	a roster's place                                          the other node's stays, or it went with its game, even if the player was moved
//	                                                          again later; if the id is now another game's, a person decides
//	deletion of what was deleted elsewhere, or of a goal      it has taken effect
//	that was, whose request another node has answered
//	a goal that was changed at one node and taken back at    it is taken back, whichever came first, and a note shows the scorers what
//	another                                                  was changed; if it was taken back at both, there is nothing to do
//	deletion of a session's last game                         the session stays: another node created a game in it
//	a game's or a team's row                                  by member: ours if only we changed it; times of thirds set in the cloud stay
//	a row with the same data in the cloud                     it has taken effect
//
// get reads another row from this node's store.
func (s *Service) Merge(all, behind []Refused, get Get) (writes []store.WriteItem, ok bool) {
	has := func(is func(r Refused) bool) bool { return slices.ContainsFunc(all, is) }
	every := func(is func(r Refused) bool) bool { return !has(func(r Refused) bool { return !is(r) }) }
	of := func(r Refused) bool { return inPK(r, pkGame) && (inSK(r, skMeta) || inSK(r, skTeam)) }
	c, isCorrection := correctionOf(all, behind)
	switch i := slices.IndexFunc(all, of); {
	case has(isKeyUsed) && len(unansweredWrites(get, all, behind)) == 0:
		return nil, true
	case has(isSignInProof) || every(isSessionRow):
		return nil, true
	case has(acceptsElsewhere):
		return nil, len(behind) == 0
	case (every(state) || every(removal)) && areRepeatable(behind), has(goneThere) && every(takesBack) && len(behind) == 0:
		return nil, true
	case !has(isKeyUsed) && i < 0 && slices.ContainsFunc(all, makesGoal):
		return s.fromBefore(get, all, behind)
	case has(func(r Refused) bool { return inSK(r, skRoster) }):
		return nil, !slices.ContainsFunc(behind, func(r Refused) bool { return !placing(r) }) && (has(isChangedElsewhere) || len(game(get, all)) == 0)
	case !has(isKeyUsed) && isCorrection && c.isUndone(get) && len(game(get, all)) > 0:
		return s.mergeUndo(c)
	case !has(isKeyUsed) && isCorrection && !has(isChangedElsewhere) && c.isFromBefore(game(get, all)):
		return s.afterAll(c, game(get, all))
	case i >= 0 && all[i].View == nil && !has(isKeyUsed):
		return deletion(get, all[i], all, len(behind) > 0)
	case i >= 0 && all[i].View != nil:
		return s.joinedWith(get, all[i], slices.Concat(all, behind))
	case has(isKeyUsed):
		return s.mergeCorrected(get, all, behind)
	case every(func(r Refused) bool { return says(r) || inPK(r, pkOnce) && r.Remote == nil }) && len(behind) == 0:
		return s.keysOf(all), true
	}
	return nil, false
}

// areRepeatable reports whether nothing is lost with later writes: each is an export, which is made again, or deletes its row.
func areRepeatable(behind []Refused) bool {
	return !slices.ContainsFunc(behind, func(r Refused) bool { return !isExport(r) && !r.Drops() })
}

// keysOf returns the writes of the rows of Idempotency-Keys.
func (s *Service) keysOf(all []Refused) []store.WriteItem {
	p := s.plan(nil)
	for i := range all {
		if inPK(all[i], pkOnce) {
			p.again(all[i].Again)
		}
	}
	return p.Writes
}

// isSignInProof reports whether a row is a token or code with which somebody signed in.
func isSignInProof(r Refused) bool { return inPK(r, pkMagic) || inPK(r, pkCode) }

// isSessionRow reports whether a row is a session, or the row by which its owner finds it.
func isSessionRow(r Refused) bool { return inPK(r, pkSignIn) || inPK(r, pkUser) && inSK(r, pkSession) }

// deletion resolves a refused deletion of a game.
func deletion(get Get, game Refused, all []Refused, later bool) (writes []store.WriteItem, ok bool) {
	if row, err := get(game.Key); err != nil || row == nil {
		return nil, err == nil && !later
	}
	for i := range all {
		switch r := all[i]; {
		case inPK(r, pkSession) && inSK(r, skMeta):
			ok = r.Remote != nil && !later
		case !inPK(r, pkSeason) || !inSK(r, pkSession):
			writes = append(writes, slices.DeleteFunc(slices.Clone(r.Again), func(w store.WriteItem) bool { // checks of the session's removal
				return w.Check != nil && strings.HasPrefix(w.Check.Key["pk"].Str(), pkGame)
			})...)
		}
	}
	return writes, ok
}

// joinedWith merges a row that both sides changed, and sends the rows that accompanied ours again: those of Idempotency-Keys, and a
// game's entry in its session. For any other row a person decides.
func (s *Service) joinedWith(get Get, r Refused, all []Refused) (writes []store.WriteItem, ok bool) {
	row, ok := s.mergeMembers(get, r)
	p := s.plan(nil)
	p.Writes = row
	for i := range all {
		switch o := all[i]; {
		case attr.EqualItems(o.Key, r.Key), isAnswered(o, get):
		case o.Remote != nil && o.View != nil && !attr.EqualItems(o.Base, o.Remote), !inPK(o, pkOnce) && !(inPK(o, pkSession) && inSK(o, pkGame)):
			return nil, false
		default:
			p.again(o.Again)
		}
	}
	return p.Writes, ok
}

// again queues writes again. A transaction may name a row only once, so the later of two writes replaces the earlier.
func (p *plan) again(all []store.WriteItem) {
	for _, w := range all {
		if w.Check != nil && p.checks(w.Check.Key) {
			continue
		}
		p.Writes = append(slices.DeleteFunc(p.Writes, func(o store.WriteItem) bool {
			return w.Check == nil && o.Check == nil && attr.EqualItems(keyWritten(o), keyWritten(w))
		}), w)
	}
}

// keyWritten returns the key of a put or delete, else nil.
func keyWritten(w store.WriteItem) attr.Item {
	if w.Put != nil {
		return attr.Item{"pk": w.Put.Item["pk"], "sk": w.Put.Item["sk"]}
	}
	if w.Delete != nil {
		return w.Delete.Key
	}
	return nil
}

// Secret reports whether an item grants access, such as a token or an invite. Conflict records then hide its values.
func (s *Service) Secret(_ *store.Tx, k attr.Item) (bool, error) {
	pk := k["pk"].Str()
	return strings.HasPrefix(pk, "AUTH_") || strings.HasPrefix(pk, pkInvite), nil
}

// computedMembers are those that are counted. A merge keeps theirs, except for a result that they lack; the consumer recomputes them.
var computedMembers = []string{"result", "scored", "conceded"}

// mergeMembers applies our changes to the cloud's row; ok is false if a person must decide, as when both sides changed the same member.
func (s *Service) mergeMembers(get Get, r Refused) (writes []store.WriteItem, ok bool) {
	base, ours, theirs := members(r.Base), members(r.View), members(r.Remote)
	if theirs == nil { // deleted there: computed members go with the row, people's changes do not
		return nil, ours == nil || base != nil && isOnlyComputed(base, ours)
	}
	if ours == nil {
		return nil, false
	}
	if r.Base == nil {
		base = s.teamBase(get, r, ours, theirs)
	}
	changed, started := false, strings.Contains(string(theirs["thirds"]), `"startedAt":"`)
	for name, v := range ours {
		now, agreed := member(name, string(v), string(theirs[name]), string(base[name]), started)
		if !agreed {
			return nil, false
		}
		if now != string(theirs[name]) {
			theirs[name], changed = json.RawMessage(now), true
		}
	}
	if !changed {
		return nil, true
	}
	p := s.plan(nil)
	if inSK(r, skMeta) {
		rewritten(p, r, theirs, (*Game).agree)
	} else {
		rewritten(p, r, theirs, func(*GameTeam) {})
	}
	return p.Writes, p.Err() == nil
}

// member merges one member of a row, as JSON. started reports whether a third of the game has started in the cloud. ok is false if a
// person must decide.
func member(name, ours, theirs, was string, started bool) (now string, ok bool) {
	both := theirs != was
	switch {
	case ours == theirs, ours == was, slices.Contains(computedMembers, name) && !(name == "result" && theirs == "null"):
		return theirs, true
	case started && (name == "thirdLengthMinutes" || name == "status" && ours == `"`+Scheduled+`"`):
		return "", false // it is locked there
	case both && name == "thirds":
		return earliest(ours, theirs), true
	case both && (name == "finishedAt" || name == "status"): // a finish, or a start, that another node has seen too
		return theirs, true
	}
	return ours, !both
}

// teamBase returns the base image for a team's row that two nodes created: usual names and colours count as unchanged.
func (s *Service) teamBase(get Get, r Refused, ours, theirs map[string]json.RawMessage) map[string]json.RawMessage {
	base := map[string]json.RawMessage{}
	game := strings.TrimPrefix(r.Key["pk"].Str(), pkGame)
	team := usualTeam("", strings.TrimPrefix(r.Key["sk"].Str(), skTeam))
	usual := []SeasonTeam{team}
	if row, err := get(gameKey(game)); err == nil && row != nil {
		g, _ := decode[Game](row)
		if row, err = get(seasonTeamKey(g.SeasonID, team.TeamID)); err == nil && row != nil {
			named, _ := decode[SeasonTeam](row)
			usual = append(usual, named)
		}
	}
	for _, u := range usual {
		it, _ := encode(r.Key, GameTeam{Name: u.Name, Color: u.Color}) // of our own members
		for name, v := range members(it) {
			if is := string(v); is == string(ours[name]) || is == string(theirs[name]) && base[name] == nil {
				base[name] = v
			}
		}
	}
	return base
}

// isOnlyComputed reports whether two images of a row differ only in computed members.
func isOnlyComputed(base, ours map[string]json.RawMessage) bool {
	for name, v := range ours {
		if string(v) != string(base[name]) && !slices.Contains(computedMembers, name) {
			return false
		}
	}
	return true
}

// rewritten replaces the cloud's row with the merged members, in the member order of its record.
func rewritten[T any, P stamped[T]](p *plan, r Refused, with map[string]json.RawMessage, agree func(*T)) {
	raw, err := json.Marshal(with)
	p.Fail(err)
	was, err := decode[T, P](r.Remote)
	p.Fail(err)
	now, err := decode[T, P](attr.Item{"data": attr.S(string(raw))})
	p.Fail(err)
	P(&now).stamps().UpdatedAt = max(r.View["updatedAt"].Str(), r.Remote["updatedAt"].Str())
	agree(&now)
	replace[T, P](p, r.Key, &was, now)
}

// agree makes the members of a merged game consistent with each other.
func (g *Game) agree() {
	switch {
	case g.FinishedAt != nil:
		g.Status = Finished
	case g.isStarted() && g.Status == Scheduled:
		g.Status = Live
	}
	for i := range g.Thirds {
		if t := &g.Thirds[i]; t.StartedAt != nil && t.FinishedAt != nil && *t.FinishedAt < *t.StartedAt {
			t.FinishedAt = t.StartedAt
		}
	}
}

func members(it attr.Item) (all map[string]json.RawMessage) {
	if it == nil || json.Unmarshal([]byte(it["data"].Str()), &all) != nil {
		return nil
	}
	return all
}

// earliest merges the times of thirds, as JSON. Each time is set once; if both sides set it, the cloud's stays.
func earliest(ours, theirs string) string {
	var a, b []Third
	if json.Unmarshal([]byte(ours), &a) != nil || json.Unmarshal([]byte(theirs), &b) != nil {
		return theirs
	}
	g := Game{Thirds: b}
	for _, t := range a {
		there := g.third(t.Third)
		done := t
		if there != nil {
			done = Third{t.Third, cmp.Or(there.StartedAt, t.StartedAt), cmp.Or(there.FinishedAt, t.FinishedAt)}
		}
		g.setThird(done)
	}
	raw, _ := json.Marshal(g.Thirds) // of our own
	return string(raw)
}
