package hacktracker

import (
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// behind is what was done behind a write that another node has made too: it is done to what that one has made. A row is written once: of
// several changes of one a person is asked.
func behind(later []table.Refused) (writes []store.WriteItem, ok bool) {
	var checks []store.WriteItem
	at := map[string]int{}
	for i := range later {
		r := &later[i]
		row := rowOf(r.Key)
		switch n, is := at[row]; {
		case !is:
			at[row] = len(writes)
			writes = append(writes, r.Again[0])
		case r.Again[0].Delete == nil:
			return nil, false
		default:
			writes[n] = r.Again[0]
		}
		checks = append(checks, r.Again[1:]...)
	}
	for _, c := range checks {
		if _, is := at[rowOf(c.Check.Key)]; !is {
			at[rowOf(c.Check.Key)] = len(writes)
			writes = append(writes, c)
		}
	}
	return writes, true
}

func rowOf(k attr.Item) string { return k["PK"].Str() + " " + k["SK"].Str() }

// Merge answers for writes that the cloud has refused; of everything else a person is asked.
//
//	its idempotency row is in the cloud        another node has done it: nothing to do
//	a user who is in the cloud                 they came to another node first: nothing to do
//	an at-bat that is in the cloud             the same phone has told another node: nothing to do
//	a player whose number another has got      the player stays, without the number, and is marked
//	a start while another game is running      the game stays as it was, or is made SCHEDULED; what else was set with it is kept
//	a marker that is let go already            the rest is done without it
//	a game that is deleted already             nothing to do
//	at-bats of a deleted game                  nothing to do: they go once the game has gone
//	a run whose tap another node has told      it counts already: nothing to do
//
// later are the writes behind it, which go with it, without images: where another node has done the same they are done to what that one has
// made. A start with at-bats is for a person.
func (s *Service) Merge(all, later []table.Refused, _ func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	find := func(prefix string) *table.Refused {
		return first(all, func(r table.Refused) bool { return strings.HasPrefix(r.Key["SK"].Str(), prefix) })
	}
	left := slices.DeleteFunc(slices.Clone(all), func(r table.Refused) bool { return isLost(&r) })
	a, j := find(prefixAtBat), find(prefixJersey)
	switch {
	case slices.ContainsFunc(all, func(r table.Refused) bool { return isDone(&r, len(all) == 1) }):
		return behind(later)
	case !slices.ContainsFunc(all, func(r table.Refused) bool { return !r.Drops() }):
		return behind(later)
	case len(left) < len(all):
		return s.without(left, later)
	case a != nil && len(all) == 1 && len(a.Again) > 0 && a.Again[0].Put != nil && SameAtBat(a.Again[0].Put.Item, a.Remote):
		return behind(later)
	case a != nil:
		return nil, false
	case j != nil && j.View != nil && j.Remote != nil:
		return s.withoutNumber(all, j, later)
	}
	return s.ofGame(all, find(skLive), later)
}

// isDone reports whether another node has done the same: the request, alone a user, or the deletion of a game.
func isDone(r *table.Refused, alone bool) bool {
	pk, sk := r.Key["PK"].Str(), r.Key["SK"].Str()
	return strings.HasPrefix(pk, prefixOnce) && idempotency.Same(r.View, r.Remote) ||
		r.Remote != nil && (alone && strings.HasPrefix(pk, prefixUser) && sk == skMetadata || sk == skDeleted)
}

// first is the first of a sort; nil: there is none.
func first(all []table.Refused, is func(r table.Refused) bool) *table.Refused {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// ofGame answers for runs of a game, and for a start where live is the marker of the game in progress.
func (s *Service) ofGame(all []table.Refused, live *table.Refused, later []table.Refused) (writes []store.WriteItem, ok bool) {
	g := first(all, func(r table.Refused) bool { return GameOf(r.Key) != "" && r.Key["SK"].Str() == skMetadata })
	switch {
	case g == nil || g.View == nil:
		return nil, false
	case len(all) == 1 && g.Remote != nil && repeats(g.View, g.Base, g.Remote):
		return behind(later)
	case live == nil || live.View == nil || live.Remote == nil,
		slices.ContainsFunc(later, func(r table.Refused) bool { return GameOf(r.Key) == GameOf(g.Key) }):
		return nil, false
	case g.Base == nil:
		return s.anew(all, g, "status", attr.Item{"status": attr.S(Scheduled)})
	}
	return s.rest(g, attr.Item{}, "status"), true
}

// isLost reports whether it lets go of a marker that somebody else has let go, or has taken.
func isLost(r *table.Refused) bool {
	sk := r.Key["SK"].Str()
	return r.View == nil && r.Base != nil && !attr.EqualItems(r.Base, r.Remote) && (sk == skLive || strings.HasPrefix(sk, prefixJersey))
}

// without does the rest of a transaction, where a marker is let go already. A number that is taken is for a person.
func (s *Service) without(left []table.Refused, later []table.Refused) (writes []store.WriteItem, ok bool) {
	for i := range left {
		r := &left[i]
		switch gone := r.View == nil; {
		case gone && (r.Base == nil || r.Remote == nil): // it was checked alone, or is gone there too
		case gone && GameOf(r.Key) != "":
			writes = append(writes, s.remove(r.Key, "", nil))
		case gone:
			writes = append(writes, s.removeGhost(r.Key))
		case r.Base == nil && r.Remote != nil:
			return nil, false
		case r.Base == nil:
			writes = append(writes, s.create(r.View))
		default:
			writes = append(writes, s.rest(r, attr.Item{})...)
		}
	}
	return writes, len(later) == 0
}

// repeats reports whether another node has told the cloud of the taps by which a view differs from its base.
func repeats(view, base, remote attr.Item) bool {
	before, there := textsOf(base["runKeys"]), textsOf(remote["runKeys"])
	taps := slices.DeleteFunc(textsOf(view["runKeys"]), func(tap string) bool { return slices.Contains(before, tap) })
	return len(taps) > 0 && !slices.ContainsFunc(taps, func(tap string) bool { return !slices.Contains(there, tap) })
}

// withoutNumber writes a player anew whose number is another's, with the row by which the request takes effect once.
func (s *Service) withoutNumber(all []table.Refused, j *table.Refused, later []table.Refused) (writes []store.WriteItem, ok bool) {
	p := first(all, func(r table.Refused) bool { return r.Key["SK"].Str() == prefixPlayer+j.View["playerId"].Str() })
	if p == nil || p.View == nil || slices.ContainsFunc(later, func(r table.Refused) bool { return !attr.EqualItems(r.Key, p.Key) }) {
		return nil, false // not a player's, or another row's write goes with it: a membership, a number
	}
	n := p.View["playerNumber"]
	if p.Base != nil {
		return s.rest(p, attr.Item{"numberRefused": n}, "playerNumber", "numberRefused"), !n.IsZero()
	}
	return s.anew(all, p, "playerNumber", attr.Item{"numberRefused": n})
}

// anew makes a row after all, without what is another's, together with the row by which the request takes effect once.
func (s *Service) anew(all []table.Refused, r *table.Refused, without string, set attr.Item) (writes []store.WriteItem, ok bool) {
	if r.Remote != nil {
		return nil, false
	}
	row := maps.Clone(r.View)
	delete(row, without)
	maps.Copy(row, set)
	writes = append(writes, s.create(row))
	for i := range all {
		if strings.HasPrefix(all[i].Key["PK"].Str(), prefixOnce) && all[i].Remote == nil && all[i].View != nil {
			writes = append(writes, s.create(all[i].View))
		}
	}
	return writes, true
}

// rest is the write of what else was changed, and of what is to be said of it.
func (s *Service) rest(r *table.Refused, set attr.Item, without ...string) []store.WriteItem {
	p := patch.Patch{Set: set}
	for name, v := range r.View {
		if !slices.Contains(without, name) && name != "updatedAt" && !v.Equal(r.Base[name]) {
			p.Set[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Base)) {
		if _, ok := r.View[name]; !ok && !slices.Contains(without, name) {
			p.Remove = append(p.Remove, name)
		}
	}
	if p.Empty() {
		return nil
	}
	p.Set["updatedAt"] = r.View["updatedAt"]
	ended := p.Set["finalAt"]
	delete(p.Set, "finalAt")
	u := p.Update(s.Table, r.Key, table.When(exists, nil))
	if !ended.IsZero() {
		endOnce(u, ended)
	}
	return []store.WriteItem{{Update: u}}
}
