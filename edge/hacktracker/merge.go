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
)

// Refused is one action of a write that the cloud did not take: its item as it was, as it was seen here, and as it is by now. nil:
// no item.
type Refused struct {
	Key, Base, View, Remote attr.Item
}

// Merge answers for writes that the cloud has refused; of everything else a person is asked.
//
//	its idempotency row is in the cloud        another node has done it: nothing to do
//	a user who is in the cloud                 they came to another node first: nothing to do
//	an at-bat that is in the cloud             the same phone has told another node: nothing to do
//	a player whose number another has got      the player stays, without the number, and is marked
//	a start while another game is running      the game stays as it was; what else was set with it is kept
//
// later are the keys of the writes behind it, which go with it: where nothing is to be done for ours they are for a person, and so is
// a start with at-bats.
func (s *Service) Merge(all []Refused, later []attr.Item) (writes []store.WriteItem, ok bool) {
	if slices.ContainsFunc(all, func(r Refused) bool {
		return strings.HasPrefix(r.Key["PK"].Str(), prefixOnce) && idempotency.Same(r.View, r.Remote)
	}) {
		return nil, len(later) == 0
	}
	find := func(prefix string) *Refused {
		i := slices.IndexFunc(all, func(r Refused) bool { return strings.HasPrefix(r.Key["SK"].Str(), prefix) })
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	if u := find(skMetadata); len(all) == 1 && u != nil && u.Remote != nil && strings.HasPrefix(u.Key["PK"].Str(), prefixUser) {
		return nil, len(later) == 0
	}
	if a := find(prefixAtBat); a != nil {
		return nil, len(all) == 1 && len(later) == 0 && SameAtBat(a.View, a.Remote)
	}
	if p, j := find(prefixPlayer), find(prefixJersey); p != nil && j != nil && p.View != nil && j.View != nil && j.Remote != nil {
		if slices.ContainsFunc(later, func(k attr.Item) bool { return !attr.EqualItems(k, p.Key) }) {
			return nil, false // another row's write goes with it: a membership, a number
		}
		return s.withoutNumber(all, p)
	}
	g, live := find(skMetadata), find(skLive)
	if g == nil || live == nil || live.View == nil || live.Remote == nil || GameOf(g.Key) == "" || g.Base == nil || g.View == nil {
		return nil, false
	}
	if slices.ContainsFunc(later, func(k attr.Item) bool { return GameOf(k) == GameOf(g.Key) }) {
		return nil, false
	}
	return s.rest(g, attr.Item{}, "status"), true
}

// withoutNumber writes a player anew whose number is another's, with the row by which the request takes effect once.
func (s *Service) withoutNumber(all []Refused, p *Refused) (writes []store.WriteItem, ok bool) {
	n := p.View["playerNumber"]
	if p.Base != nil {
		return s.rest(p, attr.Item{"numberRefused": n}, "playerNumber", "numberRefused"), !n.IsZero()
	}
	if p.Remote != nil {
		return nil, false
	}
	row := maps.Clone(p.View)
	delete(row, "playerNumber")
	row["numberRefused"] = n
	writes = append(writes, s.create(row))
	for i := range all {
		if strings.HasPrefix(all[i].Key["PK"].Str(), prefixOnce) && all[i].Remote == nil && all[i].View != nil {
			writes = append(writes, s.create(all[i].View))
		}
	}
	return writes, true
}

// rest is the write of what else was changed, and of what is to be said of it.
func (s *Service) rest(r *Refused, set attr.Item, without ...string) []store.WriteItem {
	p := patch.Patch{Set: set}
	for name, v := range r.View {
		if !slices.Contains(without, name) && name != "updatedAt" && !v.Equal(r.Base[name]) {
			p.Set[name] = v
		}
	}
	for name := range r.Base {
		if _, ok := r.View[name]; !ok && !slices.Contains(without, name) {
			p.Remove = append(p.Remove, name)
		}
	}
	if p.Empty() {
		return nil
	}
	slices.Sort(p.Remove)
	p.Set["updatedAt"] = r.View["updatedAt"]
	return []store.WriteItem{{Update: p.Update(s.Table, r.Key, "attribute_exists(PK)", expr.Params{})}}
}
