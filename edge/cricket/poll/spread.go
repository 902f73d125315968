package poll

import (
	"cmp"
	"slices"
	"strings"
)

// claim is a match as the spreading of the matches sees it.
type claim struct {
	match string
	owner string // the node that looks after it, "" or one that is gone: nobody does
}

// spread says which of the nodes is to look after each match. Everybody keeps what they have up to an even share, the
// nodes with the most keeping one more where the matches cannot be divided evenly; what is over, and what nobody has, goes
// to those who have too few. So nothing moves while the shares differ by one, and when a node comes or goes only as much
// moves as has to. It is a function of what all nodes see: they need not talk about it. Who has the lease decides where they see
// different things for a while.
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

// assignments returns how many of the matches each node is to have.
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
