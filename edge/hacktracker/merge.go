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

// merging holds the refused writes of a transaction and the later writes that fall with it. get reads the current row.
type merging struct {
	*Service
	all, later []table.Refused
	get        func(key attr.Item) (attr.Item, error)
}

// Merge resolves writes that the cloud refused. For anything not listed here a person decides.
//
//	its idempotency row is in the cloud        another node has done it: nothing to do
//	a user who is in the cloud                 they came to another node first: nothing to do
//	an at-bat that is in the cloud             the same phone sent it to another node: nothing to do
//	an at-bat of a game not in progress        it counts if the game is in progress now, or was until later; a refused start is made good
//	a player whose number another has got      the player stays without the number, and is marked
//	a start while another game is running      the game stays as it was, or is created SCHEDULED, and is marked; other changes are kept. So
//	                                           it is with a start after the end of a game that runs again, or after which another was started
//	a marker of a game that ends with it       released, or given to another game now in progress: the late end holds, as does a start after it
//	a marker that is already released          the rest is done without it
//	a marker to take over that is gone         it is taken as a free one
//	a game that is deleted already             nothing to do
//	a correction of an at-bat taken back       it stays so; its marker, which the game's pages show, has what was corrected
//	the same, and the marker has a later one   nothing to do
//	at-bats of a deleted game                  nothing to do: they are removed once the game is
//	a run whose tap another node has sent      it counts already: nothing to do
//
// Later writes that follow a write resolved like this are applied to the rows as they are then.
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
		return m.again(m.writesWithout(isLost), nil)
	case ends, slices.ContainsFunc(all, isFree):
		m.later = slices.Concat(all, later) // again repeats the checks of these
		return m.again(m.later, func(_, _ attr.Item) {})
	case a != nil && a.Base != nil && a.Remote == nil:
		return m.takenBack(a)
	case len(all) == 1 && showsLater(&all[0]):
		return m.again(later, nil)
	case a != nil:
		return m.atBat(a)
	case j != nil && j.Again[0].Put != nil && j.Remote != nil:
		return m.withoutNumber(j)
	}
	return nil, false
}

// first returns the first refused write whose key has these prefixes, or nil.
func (m *merging) first(pk, sk string) *table.Refused {
	for i := range m.all {
		if k := m.all[i].Key; strings.HasPrefix(k["PK"].Str(), pk) && strings.HasPrefix(k["SK"].Str(), sk) {
			return &m.all[i]
		}
	}
	return nil
}

// isDone reports whether another node has done the same: the request, the creation of a user if alone, or the deletion of a game.
func isDone(r *table.Refused, alone bool) bool {
	pk, sk := r.Key["PK"].Str(), r.Key["SK"].Str()
	return strings.HasPrefix(pk, prefixOnce) && idempotency.SameRequest(r.View, r.Remote) ||
		r.Remote != nil && (alone && strings.HasPrefix(pk, prefixUser) && sk == skMetadata || sk == skDeleted)
}

// showsLater reports whether r has the marker of an at-bat that was taken back show a correction, and it shows a later one.
func showsLater(r *table.Refused) bool {
	return strings.HasPrefix(r.Key["SK"].Str(), prefixUndone) && r.Updates() != "" && r.Remote["correctedAt"].Str() >= rowAfter(r.Key, *r)["correctedAt"].Str()
}

func isNumber(r table.Refused) bool { return strings.HasPrefix(r.Key["SK"].Str(), prefixJersey) }

func isLive(r table.Refused) bool { return r.Key["SK"].Str() == skLive }

func isStart(r table.Refused) bool { return isLive(r) && r.Again[0].Put != nil }

// isLost reports whether r releases a marker that another node has released or given to another owner.
func isLost(r table.Refused) bool {
	return r.Again[0].Delete != nil && !attr.EqualItems(r.Base, r.Remote) && (isLive(r) || isNumber(r))
}

// isFree reports whether r takes over a marker that is free by now.
func isFree(r table.Refused) bool {
	return r.Again[0].Put != nil && r.Base != nil && r.Remote == nil && (isLive(r) || isNumber(r))
}

// repeats reports whether another node has already sent the tap that g adds to a game's score.
func repeats(g *table.Refused) bool {
	taps := textsOf(rowAfter(g.Key, *g)["runKeys"])
	return len(taps) > 0 && slices.Contains(textsOf(g.Remote["runKeys"]), taps[0])
}

// rowAfter returns a row after writes to it; nil if it is gone or the writes do not fit it.
func rowAfter(row attr.Item, all ...table.Refused) attr.Item {
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

// writesTo returns the writes to the row with key k.
func writesTo(k attr.Item, all []table.Refused) []table.Refused {
	return slices.DeleteFunc(slices.Clone(all), func(r table.Refused) bool { return !attr.EqualItems(r.Key, k) })
}

func rowOf(k attr.Item) string { return k["PK"].Str() + " " + k["SK"].Str() }

// now returns the cloud's version of a row if its write was refused, else this node's.
func (m *merging) now(k attr.Item) (attr.Item, error) {
	if own := writesTo(k, m.all); len(own) > 0 {
		return own[0].Remote, nil
	}
	return m.get(k)
}

// ends reports whether our writes end the game that holds the marker live.
func (m *merging) ends(live attr.Item) bool {
	return live != nil && !m.isOn(live, attr.Item{"status": attr.S(InProgress)})
}

// isOn reports whether the game that holds the marker live is in progress after our writes to its row.
func (m *merging) isOn(live, row attr.Item) bool {
	return rowAfter(row, writesTo(gameKey(live["gameId"].Str()), slices.Concat(m.all, m.later))...)["status"].Str() == InProgress
}

// writesWithout returns all writes except those for which some holds.
func (m *merging) writesWithout(some func(r table.Refused) bool) []table.Refused {
	return slices.DeleteFunc(slices.Concat(m.all, m.later), some)
}

// rowAfterOurs returns a row after our writes to it. A marker is free if they end its game, and deleted if its next game is not in progress.
func (m *merging) rowAfterOurs(was attr.Item, own []table.Refused) (row attr.Item, last store.WriteItem, free bool) {
	row, last, free = rowAfter(was, own...), own[len(own)-1].Again[0], isLive(own[0]) && m.ends(was)
	if g, err := m.now(gameKey(row["gameId"].Str())); isLive(own[0]) && (free || was == nil) && (err != nil || !m.isOn(row, g)) {
		row, last = nil, m.Delete(own[0].Key, table.IfTrue("gameId = :was", attr.Item{":was": was["gameId"]}))
	}
	return row, last, free
}

// again applies writes to the current rows, each row once. edit, if not nil, changes the row to be written. For runs after another write a
// person decides, because runs cannot be added twice.
func (m *merging) again(all []table.Refused, edit func(was, row attr.Item)) (writes []store.WriteItem, ok bool) {
	have := map[string]bool{}
	for _, r := range all {
		if have[rowOf(r.Key)] {
			continue
		}
		have[rowOf(r.Key)] = true
		own := writesTo(r.Key, all)
		was, err := m.now(r.Key)
		row, last, free := m.rowAfterOurs(was, own)
		switch put := own[0].Again[0].Put; {
		case err != nil, put != nil && put.Condition != "" && was != nil && !free, row == nil && last.Delete == nil:
			return nil, false // another row exists, or none does any more
		case row == nil && was == nil: // gone there too
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

// atBat resolves a refused at-bat: another node may have it, or its game may be in progress after all.
func (m *merging) atBat(a *table.Refused) (writes []store.WriteItem, ok bool) {
	row, own := rowAfter(nil, *a), writesTo(a.Key, m.later)
	game := gameKey(GameOf(a.Key))
	it, err := m.get(game)
	last := rowAfter(row, own...)
	switch g := gameOf(it); {
	case err != nil || row == nil:
		return nil, false
	case SameAtBat(row, a.Remote), last == nil: // or it was taken back
		return m.again(m.later, nil)
	case a.Remote != nil || it == nil || len(own) < len(m.later):
		return nil, false
	case g.Status == InProgress || g.FinalAt >= row["createdAt"].Str():
		return []store.WriteItem{m.Create(last), m.onAt(game, row["createdAt"])}, true
	case g.StartRefused == "":
		return nil, false
	}
	on := patch.Patch{Set: attr.Item{"status": attr.S(InProgress), "updatedAt": row["updatedAt"]}}
	return []store.WriteItem{{Update: on.Update(m.Table, game, table.IfTrue("attribute_exists(startRefused)", nil))}, m.Create(last)}, true
}

// takenBack resolves corrections of an at-bat that another node has taken back. Other writes are a person's matter.
func (m *merging) takenBack(a *table.Refused) (writes []store.WriteItem, ok bool) {
	own := writesTo(a.Key, slices.Concat(m.all, m.later))
	if len(own) < len(m.all)+len(m.later) {
		return nil, false
	}
	last := atBatOf(rowAfter(a.Base, own...))
	if last.Result == "" {
		return nil, true // taken back here as well
	}
	shows := m.asCorrected(last)
	marker, err := m.get(shows.Update.Key)
	if err == nil && marker["correctedAt"].Str() >= last.UpdatedAt {
		return nil, true
	}
	return []store.WriteItem{shows}, err == nil
}

// withoutStart applies the writes without a start that was refused because of another game. The game keeps its old status and records
// the other game in startRefused; at-bats after the start make the start good.
func (m *merging) withoutStart(other attr.Value) (writes []store.WriteItem, ok bool) {
	return m.again(m.writesWithout(isLive), func(was, row attr.Item) {
		if row["status"].Str() == InProgress && row["PK"].Str() != prefixGame+other.Str() {
			row["status"], row["startRefused"] = attr.S(cmp.Or(was["status"].Str(), Scheduled)), other
		}
	})
}

// withoutNumber applies the writes to a player without the number, which belongs to another player.
func (m *merging) withoutNumber(j *table.Refused) (writes []store.WriteItem, ok bool) {
	p := m.first(prefixTeam, prefixPlayer+j.Again[0].Put.Item["playerId"].Str())
	if p == nil {
		return nil, false
	}
	refused := func(row attr.Item) bool { return prefixJersey+row["playerNumber"].Text() == j.Key["SK"].Str() }
	last := refused(rowAfter(p.Remote, append([]table.Refused{*p}, writesTo(p.Key, m.later)...)...)) // else they have another one since
	left := m.writesWithout(func(r table.Refused) bool { return isNumber(r) && (last || attr.EqualItems(r.Key, j.Key)) })
	return m.again(left, func(was, row attr.Item) {
		if attr.EqualItems(m.KeyOf(row), p.Key) && refused(row) {
			row["numberRefused"] = row["playerNumber"]
			if delete(row, "playerNumber"); was != nil && !was["playerNumber"].IsZero() {
				row["playerNumber"] = was["playerNumber"]
			}
		}
	})
}

// rest returns the write that turns was into row; it creates the row if was is nil.
func (s *Service) rest(was, row attr.Item) []store.WriteItem {
	if was == nil {
		return []store.WriteItem{s.Create(row)}
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
	u := p.Update(s.Table, s.KeyOf(row), s.IfSame(was, "gameId")) // gameId: for a marker
	if !ended.IsZero() {
		endOnce(u, ended)
	}
	return []store.WriteItem{{Update: u}}
}
