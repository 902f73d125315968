package push

import (
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// nameMatches decides which alerts on cards say what match they are about: those for users who follow another one at this time. A broadcast is
// the same for all its listeners, so it names the match if any of them does. Starts and ordinary alerts always name it.
func (c *Coordinator) nameMatches(jobs []*job, now time.Time) {
	var follows map[string]int
	for _, j := range jobs {
		if j.kind != tell {
			continue
		}
		if follows == nil {
			follows = c.countFollowed(now)
		}
		j.named = follows[j.session.row.UserID] > 1
		if j.session.isChannel() {
			j.named = slices.ContainsFunc(j.match.listeners(j.session.row.ChannelID), func(s *session) bool { return follows[s.row.UserID] > 1 })
		}
	}
}

// countFollowed counts the matches in play, or about to be, that each user follows.
func (c *Coordinator) countFollowed(now time.Time) map[string]int {
	n := map[string]int{}
	for _, m := range c.matches {
		if m.isClosed(now) || m.status != cricket.ActiveLive && m.status != cricket.ActiveIdle {
			continue
		}
		for user := range m.followers {
			n[user]++
		}
	}
	return n
}
