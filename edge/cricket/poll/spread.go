package poll

import (
	"cmp"
	"slices"
	"strings"
)

// claim is a match to be assigned.
type claim struct {
	match string
	owner string // the node that polls it; "" or a node that is gone: nobody
}

// spread assigns matches to nodes. Every node keeps what it has up to an even share; if the matches do not divide
// evenly, the nodes with the most keep one more. The rest, and matches that nobody has, go to nodes with too few. So
// nothing moves while shares differ by one, and when a node joins or leaves no more moves than necessary. The result
// depends only on what all nodes see, so they need not communicate; while they see different things, the leases decide.
func spread(nodes []string, claims []claim) map[string]string {
	if len(nodes) == 0 {
		return map[string]string{}
	}
	claims = slices.SortedFunc(slices.Values(claims), func(a, b claim) int { return strings.Compare(a.match, b.match) })
	has := map[string]int{}
	for _, c := range claims {
		has[c.owner]++
	}
	room := assignments(nodes, has, len(claims))
	out := make(map[string]string, len(claims))
	var free []string
	for _, c := range claims {
		if room[c.owner] > 0 {
			room[c.owner]--
			out[c.match] = c.owner
		} else {
			free = append(free, c.match)
		}
	}
	order := slices.Sorted(slices.Values(nodes))
	for _, match := range free {
		best := slices.MaxFunc(order, func(a, b string) int {
			return cmp.Or(cmp.Compare(room[a], room[b]), strings.Compare(b, a))
		})
		room[best]--
		out[match] = best
	}
	return out
}

// assignments returns how many matches each node should have.
func assignments(nodes []string, has map[string]int, matches int) map[string]int {
	order := slices.SortedFunc(slices.Values(nodes), func(a, b string) int {
		return cmp.Or(cmp.Compare(has[b], has[a]), strings.Compare(a, b))
	})
	share := map[string]int{}
	for i, node := range order {
		share[node] = matches / len(order)
		if i < matches%len(order) {
			share[node]++
		}
	}
	return share
}
