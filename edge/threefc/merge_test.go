package threefc

import (
	"testing"

	"github.com/touchline/touchline/store/attr"
)

// What people have done behind a write that another node was first with is not dropped with it; exports are.
func TestMergeLeavesWhatStandsBehindToAPerson(t *testing.T) {
	s := &Service{Table: "t"}
	once := attr.Item{"pk": attr.S(pkOnce + "goal#k"), "sk": attr.S(skMeta), "requestHash": attr.S("h")}
	place := attr.Item{"pk": attr.S(pkGame + "g"), "sk": attr.S(skRoster + "red#p")}
	state := attr.Item{"pk": attr.S(pkGame + "g"), "sk": attr.S(skState)}
	for name, c := range map[string]struct {
		row              attr.Item
		alone, withLater bool
	}{
		"a key that was used": {once, true, false},
		"a roster's place":    {place, true, false},
		"an export":           {state, true, true},
	} {
		all := []Refused{{Key: c.row, View: c.row, Remote: c.row}}
		for later, want := range map[bool]bool{false: c.alone, true: c.withLater} {
			if writes, ok := s.Merge(all, later); ok != want || len(writes) > 0 {
				t.Errorf("%s, writes behind it %t: %t, %v", name, later, ok, writes)
			}
		}
	}
}

// Of a game that was deleted elsewhere an export is dropped, and what people have set is for a person.
func TestMergeOfADeletedGame(t *testing.T) {
	s := &Service{Table: "t"}
	row := func(data string) attr.Item {
		return attr.Item{"pk": attr.S(pkGame + "g"), "sk": attr.S(skTeam + "red"), "data": attr.S(data)}
	}
	for name, c := range map[string]struct {
		data string
		ok   bool
	}{
		"a tally": {`{"name":"Red","scored":1,"conceded":2}`, true},
		"a name":  {`{"name":"Reds","scored":0,"conceded":0}`, false},
	} {
		if writes, ok := s.Merge([]Refused{{Key: row("{}"), Base: row(`{"name":"Red","scored":0,"conceded":0}`), View: row(c.data)}}, false); ok != c.ok || len(writes) > 0 {
			t.Errorf("%s: %t, %v", name, ok, writes)
		}
	}
}
