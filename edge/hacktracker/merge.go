package hacktracker

import (
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
//	a start while another game is running      the game stays as it was, or is made SCHEDULED, and is marked; what else was done is kept
//	a marker that is let go already            the rest is done without it
//	a game that is deleted already             nothing to do
//	at-bats of a deleted game                  nothing to do: they go once the game has gone
//	a run whose tap another node has told      it counts already: nothing to do
//
// Where another node has done the same, what stands behind it is done to what that one has made.
func (s *Service) Merge(all, later []table.Refused, get func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	m := merging{s, all, later, get}
	left := slices.DeleteFunc(slices.Clone(all), func(r table.Refused) bool { return isLost(&r) })
	a, g, j, live := m.first(prefixGame, prefixAtBat), m.first(prefixGame, skMetadata), m.first(prefixTeam, prefixJersey), m.first(prefixTeam, skLive)
	switch {
	case slices.ContainsFunc(all, func(r table.Refused) bool { return isDone(&r, len(all) == 1) }):
		return m.behind(later)
	case !slices.ContainsFunc(all, func(r table.Refused) bool { return !r.Drops() }):
		return m.behind(later)
	case len(left) < len(all):
		return m.without(left)
	case a != nil:
		return m.atBat(a)
	case j != nil && j.Again[0].Put != nil && j.Remote != nil:
		return m.withoutNumber(j)
	case g == nil:
		return nil, false
	case live != nil && live.Again[0].Put != nil && live.Remote != nil:
		return m.withoutStart(g, live.Remote["gameId"])
	case len(all) == 1 && repeats(g):
		return m.behind(later)
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

// isLost reports whether it lets go of a marker that somebody else has let go, or has taken.
func isLost(r *table.Refused) bool {
	sk := r.Key["SK"].Str()
	return r.Again[0].Delete != nil && !attr.EqualItems(r.Base, r.Remote) && (sk == skLive || strings.HasPrefix(sk, prefixJersey))
}

// repeats reports whether another node has told the cloud of the tap that adds to a game's score.
func repeats(g *table.Refused) bool {
	there := textsOf(g.Remote["runKeys"])
	taps := textsOf(after(g.Key, *g)["runKeys"])
	return len(taps) > 0 && slices.Contains(there, taps[0])
}

// of are the writes behind it of a row.
func (m *merging) of(k attr.Item) []table.Refused {
	return slices.DeleteFunc(slices.Clone(m.later), func(r table.Refused) bool { return !attr.EqualItems(r.Key, k) })
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
			if err != nil {
				return nil
			}
			if row, err = bound.Update.Apply(row); err != nil {
				return nil
			}
		}
	}
	return row
}

// behind is what was done behind something that another node has done too, each row written once. Of several runs a person is asked.
func (m *merging) behind(later []table.Refused) (writes []store.WriteItem, ok bool) {
	var checks []store.WriteItem
	have := map[string]bool{}
	for i := range later {
		checks = append(checks, later[i].Again[1:]...)
		k := later[i].Key
		if have[rowOf(k)] {
			continue
		}
		have[rowOf(k)] = true
		own := m.of(k)
		if last := own[len(own)-1].Again[0]; len(own) == 1 || last.Delete != nil {
			writes = append(writes, last)
			continue
		}
		row, err := m.get(k)
		next := after(row, own...)
		if err != nil || row == nil || next == nil || !next["runKeys"].Equal(row["runKeys"]) {
			return nil, false
		}
		writes = append(writes, m.rest(row, next, attr.Item{})...)
	}
	for _, c := range checks {
		if k := rowOf(c.Check.Key); !have[k] {
			have[k] = true
			writes = append(writes, c)
		}
	}
	return writes, true
}

func rowOf(k attr.Item) string { return k["PK"].Str() + " " + k["SK"].Str() }

// without does the rest of a transaction, where a marker is let go already. A number that is taken is for a person.
func (m *merging) without(left []table.Refused) (writes []store.WriteItem, ok bool) {
	for i := range left {
		r := &left[i]
		switch again := r.Again[0]; {
		case again.Delete != nil && r.Remote == nil: // it is gone there too
		case again.Put != nil && !attr.EqualItems(r.Base, r.Remote):
			return nil, false
		default:
			writes = append(writes, again)
		}
	}
	return writes, len(m.later) == 0
}

// atBat answers for one that was scored: another node may have it, or its game may be on after all.
func (m *merging) atBat(a *table.Refused) (writes []store.WriteItem, ok bool) {
	row, own := after(nil, *a), m.of(a.Key)
	game := gameKey(GameOf(a.Key))
	it, err := m.get(game)
	last := after(row, own...)
	switch g := gameOf(it); {
	case err != nil || row == nil:
		return nil, false
	case SameAtBat(row, a.Remote), last == nil: // or it was taken back
		return m.behind(m.later)
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

// withoutStart does what was done to a game from its start on, which is refused for another one that is on. One that would be on is as it was,
// and says so: at-bats behind it have it go on.
func (m *merging) withoutStart(g *table.Refused, other attr.Value) (writes []store.WriteItem, ok bool) {
	own := append([]table.Refused{*g}, m.of(g.Key)...)
	made := g.Again[0].Put != nil
	rest := slices.DeleteFunc(slices.Clone(m.later), func(r table.Refused) bool { return attr.EqualItems(r.Key, g.Key) || r.Key["SK"].Str() == skLive })
	if made == (g.Remote != nil) || slices.ContainsFunc(rest, func(r table.Refused) bool { return GameOf(r.Key) != GameOf(g.Key) }) {
		return nil, false // another start stands behind it, or the game is gone
	}
	row, mark, kept := after(g.Remote, own...), attr.Item{}, ""
	if row["status"].Str() == InProgress {
		mark["startRefused"], kept = other, "status"
	}
	if writes, ok = m.behind(rest); made {
		writes = append(writes, m.once()...)
	}
	switch {
	case row != nil && made:
		if kept != "" {
			mark["status"] = attr.S(Scheduled)
		}
		maps.Copy(row, mark)
		writes = append(writes, m.create(row))
	case row != nil:
		writes = append(writes, m.rest(g.Remote, row, mark, kept)...)
	case !made:
		writes = append(writes, own[len(own)-1].Again[0])
	}
	return writes, ok
}

// withoutNumber writes a player without the number that is another's.
func (m *merging) withoutNumber(j *table.Refused) (writes []store.WriteItem, ok bool) {
	p := m.first(prefixTeam, prefixPlayer+j.Again[0].Put.Item["playerId"].Str())
	if p == nil || len(m.of(p.Key)) < len(m.later) {
		return nil, false // not a player's, or another row's write goes with it: a membership, a number
	}
	row := after(p.Remote, append([]table.Refused{*p}, m.later...)...)
	n, made := row["playerNumber"], p.Again[0].Put != nil
	switch mark := (attr.Item{"numberRefused": n}); {
	case n.IsZero() || made == (p.Remote != nil):
		return nil, false
	case made:
		delete(row, "playerNumber")
		maps.Copy(row, mark)
		return append(m.once(), m.create(row)), true
	default:
		return m.rest(p.Remote, row, mark, "playerNumber", "numberRefused"), true
	}
}

// once are the rows by which what is made anew is made once.
func (m *merging) once() (writes []store.WriteItem) {
	for i := range m.all {
		if r := &m.all[i]; strings.HasPrefix(r.Key["PK"].Str(), prefixOnce) && r.Remote == nil {
			writes = append(writes, r.Again[0])
		}
	}
	return writes
}

// rest is the write by which a row comes to what it would be but for some attributes, with what is to be said of it.
func (s *Service) rest(was, row, set attr.Item, without ...string) []store.WriteItem {
	p := patch.Patch{Set: set}
	for name, v := range row {
		if !slices.Contains(without, name) && name != "updatedAt" && !v.Equal(was[name]) {
			p.Set[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, ok := row[name]; !ok && !slices.Contains(without, name) {
			p.Remove = append(p.Remove, name)
		}
	}
	if p.Empty() {
		return nil
	}
	p.Set["updatedAt"] = row["updatedAt"]
	ended := p.Set["finalAt"]
	delete(p.Set, "finalAt")
	u := p.Update(s.Table, key(row["PK"].Str(), row["SK"].Str()), table.When(exists, nil))
	if !ended.IsZero() {
		endOnce(u, ended)
	}
	return []store.WriteItem{{Update: u}}
}
