package poll

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Shares are even. A node with at most an even share loses no match. The result does not depend on the order of nodes and
// claims, and is stable.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d", "e"}
		nodes := rapid.Permutation(names).Draw(t, "nodes")[:rapid.IntRange(1, 5).Draw(t, "n")]
		owner := rapid.SampledFrom([]string{"", "a", "a", "a", "b", "c", "d", "e", "gone"})
		var claims []claim
		for i := range rapid.IntRange(0, 40).Draw(t, "matches") {
			claims = append(claims, claim{fmt.Sprint(i), owner.Draw(t, "owner")})
		}
		got := spread(nodes, claims)
		if len(got) != len(claims) {
			t.Fatalf("%d of %d matches", len(got), len(claims))
		}
		before, after, kept := map[string]int{}, map[string]int{}, map[string]int{}
		for _, c := range claims {
			to := got[c.match]
			before[c.owner]++
			after[to]++
			if to == c.owner {
				kept[to]++
			}
			if !slices.Contains(nodes, to) {
				t.Fatalf("%s goes to %q", c.match, to)
			}
		}
		least := len(claims) / len(nodes)
		for _, node := range nodes {
			if n := after[node]; n < least || n > least+1 || n > least && len(claims)%len(nodes) == 0 {
				t.Fatalf("%s gets %d of %d over %d: %v", node, n, len(claims), len(nodes), got)
			}
			if before[node] <= least && kept[node] < before[node] {
				t.Fatalf("%s had %d and keeps %d", node, before[node], kept[node])
			}
			if kept[node] < min(before[node], after[node]) {
				t.Fatalf("%s loses some and gets others: %d, %d, %d", node, before[node], kept[node], after[node])
			}
		}
		again := rapid.Permutation(claims).Draw(t, "again")
		others := rapid.Permutation(nodes).Draw(t, "others")
		for match, to := range spread(others, again) {
			if got[match] != to {
				t.Fatalf("in another order %s goes to %s instead of %s", match, to, got[match])
			}
		}
		var now []claim
		for match, to := range got {
			now = append(now, claim{match, to})
		}
		for match, to := range spread(nodes, now) {
			if got[match] != to {
				t.Fatalf("%s moves again, from %s to %s", match, got[match], to)
			}
		}
	})
}

// When a node joins or leaves, only the matches it gets or had move.
func TestSpreadMovesLittle(t *testing.T) {
	var claims []claim
	for i := range 300 {
		claims = append(claims, claim{fmt.Sprintf("%03d", i), ""})
	}
	moved := func(nodes ...string) (n int) {
		for i, to := 0, spread(nodes, claims); i < len(claims); i++ {
			if c := &claims[i]; to[c.match] != c.owner {
				c.owner = to[c.match]
				n++
			}
		}
		return n
	}
	for _, tt := range []struct {
		nodes []string
		want  int
	}{
		{[]string{"a", "b"}, 300},
		{[]string{"a", "b", "c"}, 100},
		{[]string{"a", "b", "c"}, 0},
		{[]string{"a", "c"}, 100},
		{[]string{"a", "b", "c"}, 100},
		{[]string{"b"}, 200},
	} {
		if n := moved(tt.nodes...); n != tt.want {
			t.Errorf("%v: %d moved, want %d", tt.nodes, n, tt.want)
		}
	}
	if len(spread(nil, claims)) != 0 {
		t.Error("matches are assigned without a node")
	}
}
