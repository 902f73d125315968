package main

import (
	"fmt"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// spec returns the spec of the table with the given number of indexes.
func spec(indexes int) store.TableSpec {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	num := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyNumber} }
	t := store.TableSpec{Name: measure.TableName, Key: store.KeySpec{Partition: str("match"), Sort: num("ball")}}
	for i := range indexes {
		t.Indexes = append(t.Indexes, store.IndexSpec{
			Name: fmt.Sprintf("index-%d", i), Key: store.KeySpec{Partition: str("bowler"), Sort: num("rank")},
		})
	}
	return t
}

// matchItem returns an item of 17 attributes like a row of the table of live matches: about 1 KB of DynamoDB JSON.
func matchItem() (attr.Item, error) {
	ball := func(label, mark string, id int64) attr.Value {
		return attr.M(attr.Item{"label": attr.S(label), "mark": attr.S(mark), "id": attr.Int(id)})
	}
	rate, err := attr.N("7.25")
	return attr.Item{
		"matchId": attr.S("67890123"), "leagueId": attr.Int(5), "leagueCode": attr.S("T20WC"),
		"startTime": attr.S("2026-02-14T14:00:00.000Z"), "status": attr.S("2nd Innings"), "phase": attr.S("live"),
		"homeTeam": attr.S("Australia"), "awayTeam": attr.S("New Zealand"), "innings": attr.Int(2),
		"runs": attr.Int(112), "wickets": attr.Int(3), "overs": attr.S("14.2"), "runRate": rate,
		"active": attr.Bool(true), "ttl": attr.Int(1770998400),
		"cooldowns": attr.M(attr.Item{"four": attr.Int(1770990000), "six": attr.Int(1770990060)}),
		"lastBalls": attr.L(ball("14.1", "4", 901), ball("14.2", "W", 902), ball("14.3", "1", 903)),
	}, err
}
