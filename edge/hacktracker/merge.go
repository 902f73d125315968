package hacktracker

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// merging is what the cloud has refused of a transaction, and what stands behind it and goes with it. get reads a row as it is by now.
type merging struct {
	*Service
	all, later []table.Refused
	get        func(key attr.Item) (attr.Item, error)
}

// Merge answers for writes that the cloud has refused; of everything else a person is asked.
//
//	its idempotency row is in the cloud        another node has done it: nothing to do
//	a user who is in the cloud                 they came to another node first: nothing to do
//	an at-bat that is in the cloud             the same phone has told another node: nothing to do
//	an at-bat of a game that is not on         it counts if the game is on by now, or was until later; a start that was refused is made good
//	a player whose number another has got      the player stays, without the number, and is marked
//	a start while another game is running      the game stays as it was, or is made SCHEDULED, and is marked; what else was done is kept.
//	                                           So it is behind the end of a game that runs again, or behind which another one was started
//	a marker of a game that ends with it       it is let go, or another game's that is on by now: the late end holds, and so does a start behind it
//	a marker that is let go already            the rest is done without it
//	a marker to take over that is gone         it is taken as one that nobody has
//	a game that is deleted already             nothing to do
//	at-bats of a deleted game                  nothing to do: they go once the game has gone
//	a run whose tap another node has told      it counts already: nothing to do
//
// What stands behind what another node has done, or what is done after all, is done to what there is then.
func (s *Service) Merge(all, later []table.Refused, get func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	m := merging{s, all, later, get}
	a, g, j, live := m.first(prefixGame, prefixAtBat), m.first(prefixGame, skMetadata), m.first(prefixTeam, prefixJersey), m.first(prefixTeam, skLive)
	ends := live != nil && m.ends(live.Remote)
	switch {
	case slices.ContainsFunc(all, func(r table.Refused) bool { return isDone(&r, len(all) == 1) }),
		!slices.ContainsFunc(all, func(r table.Refused) bool { return !r.Drops() }), g != nil && len(all) == 1 && repeats(g):
		return m.again(later, nil)
	case live != nil && live.Remote != nil && !ends && (isStart(*live) || isLost(*live) && slices.ContainsFunc(later, isStart)):
		return m.withoutStart(live.Remote["gameId"])
	case !ends && slices.ContainsFunc(all, isLost):
		return m.again(m.without(isLost), nil)
	case ends, slices.ContainsFunc(all, isFree):
		m.later = slices.Concat(all, later) // with what they check
		return m.again(m.later, func(_, _ attr.Item) {})
	case a != nil:
		return m.atBat(a)
	case j != nil && j.Again[0].Put != nil && j.Remote != nil:
		return m.withoutNumber(j)
	}
	return nil, false
}

// first is the first whose key begins so; nil: there is none.
func (m *merging) first(pk, sk string) *table.Refused {
	for i := range m.all {
		if k := m.all[i].Key; strings.HasPrefix(k["PK"].Str(), pk) && strings.HasPrefix(k["SK"].Str(), sk) {
			return &m.all[i]
		}
	}
	return nil
}

// isDone reports whether another node has done the same: the request, alone a user, or the deletion of a game.
func isDone(r *table.Refused, alone bool) bool {
	pk, sk := r.Key["PK"].Str(), r.Key["SK"].Str()
	return strings.HasPrefix(pk, prefixOnce) && idempotency.Same(r.View, r.Remote) ||
		r.Remote != nil && (alone && strings.HasPrefix(pk, prefixUser) && sk == skMetadata || sk == skDeleted)
}

func isNumber(r table.Refused) bool { return strings.HasPrefix(r.Key["SK"].Str(), prefixJersey) }

func isLive(r table.Refused) bool { return r.Key["SK"].Str() == skLive }

func isStart(r table.Refused) bool { return isLive(r) && r.Again[0].Put != nil }

// isLost reports whether it lets go of a marker that somebody else has let go, or has taken.
func isLost(r table.Refused) bool {
	return r.Again[0].Delete != nil && !attr.EqualItems(r.Base, r.Remote) && (isLive(r) || isNumber(r))
}

// isFree reports whether it takes over a marker that nobody has by now.
func isFree(r table.Refused) bool {
	return r.Again[0].Put != nil && r.Base != nil && r.Remote == nil && (isLive(r) || isNumber(r))
}

// repeats reports whether another node has told the cloud of the tap that adds to a game's score.
func repeats(g *table.Refused) bool {
	taps := textsOf(after(g.Key, *g)["runKeys"])
	return len(taps) > 0 && slices.Contains(textsOf(g.Remote["runKeys"]), taps[0])
}

// after is a row behind what is written to it; nil: it is gone, or the writes do not fit it.
func after(row attr.Item, all ...table.Refused) attr.Item {
	for i := range all {
		switch again := all[i].Again[0]; {
		case again.Put != nil:
			row = maps.Clone(again.Put.Item)
		case again.Delete != nil:
			row = nil
		case row != nil:
			u := again.Update
			bound, err := expr.Bind(expr.Request{Update: u.Update, Condition: u.Condition, Params: u.Params})
			if err == nil {
				row, err = bound.Update.Apply(row)
			}
			if err != nil {
				return nil
			}
		}
	}
	return row
}

// of are those writes that are of a row.
func of(k attr.Item, all []table.Refused) []table.Refused {
	return slices.DeleteFunc(slices.Clone(all), func(r table.Refused) bool { return !attr.EqualItems(r.Key, k) })
}

func rowOf(k attr.Item) string { return k["PK"].Str() + " " + k["SK"].Str() }

// now is a row as the cloud has it, or as it is here.
func (m *merging) now(k attr.Item) (attr.Item, error) {
	if own := of(k, m.all); len(own) > 0 {
		return own[0].Remote, nil
	}
	return m.get(k)
}

// ends reports whether what is done anew ends the game that has a marker.
func (m *merging) ends(live attr.Item) bool {
	return live != nil && !m.isOn(live, attr.Item{"status": attr.S(InProgress)})
}

// isOn reports whether the game of a marker is on behind what is written to its row.
func (m *merging) isOn(live, row attr.Item) bool {
	return after(row, of(gameKey(live["gameId"].Str()), slices.Concat(m.all, m.later))...)["status"].Str() == InProgress
}

// without is all but some.
func (m *merging) without(some func(r table.Refused) bool) []table.Refused {
	return slices.DeleteFunc(slices.Concat(m.all, m.later), some)
}

// behind is a row behind what is written to it. A marker is free if that ends its game, and goes if the next one that has it is not on.
func (m *merging) behind(was attr.Item, own []table.Refused) (row attr.Item, last store.WriteItem, free bool) {
	row, last, free = after(was, own...), own[len(own)-1].Again[0], isLive(own[0]) && m.ends(was)
	if g, err := m.now(gameKey(row["gameId"].Str())); isLive(own[0]) && (free || was == nil) && (err != nil || !m.isOn(row, g)) {
		row, last = nil, m.remove(own[0].Key, "gameId = :was", attr.Item{":was": was["gameId"]})
	}
	return row, last, free
}

// again does writes anew, to what their rows are by now; edit is what a row is to be instead, nil: nothing. Each row is written once. Of runs
// behind something else a person is asked: they cannot be added twice.
func (m *merging) again(all []table.Refused, edit func(was, row attr.Item)) (writes []store.WriteItem, ok bool) {
	have := map[string]bool{}
	for _, r := range all {
		if have[rowOf(r.Key)] {
			continue
		}
		have[rowOf(r.Key)] = true
		own := of(r.Key, all)
		was, err := m.now(r.Key)
		row, last, free := m.behind(was, own)
		switch put := own[0].Again[0].Put; {
		case err != nil, put != nil && put.Condition != "" && was != nil && !free, row == nil && last.Delete == nil:
			return nil, false // there is another one, or none any more
		case row == nil && was == nil: // it is gone there too
		case row == nil, len(own) == 1 && edit == nil:
			writes = append(writes, last)
		case was != nil && !row["runKeys"].Equal(was["runKeys"]):
			return nil, false
		default:
			if edit != nil {
				edit(was, row)
			}
			writes = append(writes, m.rest(was, row)...)
		}
	}
	for _, r := range m.later {
		for _, c := range r.Again[1:] {
			if k := rowOf(c.Check.Key); !have[k] {
				have[k] = true
				writes = append(writes, c)
			}
		}
	}
	return writes, true
}

// atBat answers for one that was scored: another node may have it, or its game may be on after all.
func (m *merging) atBat(a *table.Refused) (writes []store.WriteItem, ok bool) {
	row, own := after(nil, *a), of(a.Key, m.later)
	game := gameKey(GameOf(a.Key))
	it, err := m.get(game)
	last := after(row, own...)
	switch g := gameOf(it); {
	case err != nil || row == nil:
		return nil, false
	case SameAtBat(row, a.Remote), last == nil: // or it was taken back
		return m.again(m.later, nil)
	case a.Remote != nil || it == nil || len(own) < len(m.later):
		return nil, false
	case g.Status == InProgress || g.FinalAt >= row["createdAt"].Str():
		return []store.WriteItem{m.create(last), m.onAt(game, row["createdAt"])}, true
	case g.StartRefused == "":
		return nil, false
	}
	on := patch.Patch{Set: attr.Item{"status": attr.S(InProgress), "updatedAt": row["updatedAt"]}}
	return []store.WriteItem{{Update: on.Update(m.Table, game, table.When("attribute_exists(startRefused)", nil))}, m.create(last)}, true
}

// withoutStart does what was done from a start on that is refused for another game. One that would be on is as it was, and says so: at-bats
// behind it have it go on.
func (m *merging) withoutStart(other attr.Value) (writes []store.WriteItem, ok bool) {
	return m.again(m.without(isLive), func(was, row attr.Item) {
		if row["status"].Str() == InProgress && row["PK"].Str() != prefixGame+other.Str() {
			row["status"], row["startRefused"] = attr.S(cmp.Or(was["status"].Str(), Scheduled)), other
		}
	})
}

// withoutNumber does what was done to a player from then on that they should have a number which is another's.
func (m *merging) withoutNumber(j *table.Refused) (writes []store.WriteItem, ok bool) {
	p := m.first(prefixTeam, prefixPlayer+j.Again[0].Put.Item["playerId"].Str())
	if p == nil {
		return nil, false
	}
	refused := func(row attr.Item) bool { return prefixJersey+row["playerNumber"].Text() == j.Key["SK"].Str() }
	last := refused(after(p.Remote, append([]table.Refused{*p}, of(p.Key, m.later)...)...)) // else they have another one since
	left := m.without(func(r table.Refused) bool { return isNumber(r) && (last || attr.EqualItems(r.Key, j.Key)) })
	return m.again(left, func(was, row attr.Item) {
		if attr.EqualItems(key(row["PK"].Str(), row["SK"].Str()), p.Key) && refused(row) {
			row["numberRefused"] = row["playerNumber"]
			if delete(row, "playerNumber"); was != nil && !was["playerNumber"].IsZero() {
				row["playerNumber"] = was["playerNumber"]
			}
		}
	})
}

// rest is the write by which a row comes to what it would be; nil before: it is made.
func (s *Service) rest(was, row attr.Item) []store.WriteItem {
	if was == nil {
		return []store.WriteItem{s.create(row)}
	}
	p := patch.Patch{Set: maps.Clone(row)}
	maps.DeleteFunc(p.Set, func(name string, v attr.Value) bool { return v.Equal(was[name]) })
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, ok := row[name]; !ok {
			p.Remove = append(p.Remove, name)
		}
	}
	if p.Empty() {
		return nil
	}
	ended := p.Set["finalAt"]
	delete(p.Set, "finalAt")
	u := p.Update(s.Table, key(row["PK"].Str(), row["SK"].Str()), table.Same(was, "PK", "gameId")) // of a marker: its game
	if !ended.IsZero() {
		endOnce(u, ended)
	}
	return []store.WriteItem{{Update: u}}
}
