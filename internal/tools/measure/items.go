package measure

import (
	"fmt"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// Items are in partitions of a hundred, like the balls of an innings.
const (
	TableName  = "balls"
	PerMatch   = 100
	QueryItems = 20 // returned by a query

	itemText = 100 // bytes of each of the eight attributes that give an item its size
)

// MatchOf returns the partition of the n-th item.
func MatchOf(n int) string { return fmt.Sprintf("match-%06d", n/PerMatch) }

// KeyOf returns the key of the n-th item.
func KeyOf(n int) attr.Item {
	return attr.Item{"match": attr.S(MatchOf(n)), "ball": attr.Int(int64(n % PerMatch))}
}

// MakeItem returns the n-th item: about 1 KB in 13 attributes. rank is the sort key of indexes.
func MakeItem(n, rank, runs int) attr.Item {
	it := KeyOf(n)
	it["bowler"] = attr.S(fmt.Sprintf("bowler-%d", n%11))
	it["rank"] = attr.Int(int64(rank))
	it["runs"] = attr.Int(int64(runs))
	filler := attr.S(strings.Repeat("x", itemText))
	for i := range 8 {
		it[fmt.Sprintf("attribute-%d", i)] = filler
	}
	return it
}
