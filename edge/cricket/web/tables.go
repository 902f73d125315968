package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
)

func matchTable(all []matchState, now time.Time) page.Table {
	t := page.Table{
		ID: "matches", Title: "Matches", None: "No match is registered.",
		Heads: []string{"Match", "Status", "Phase", "Read", "Owner", "Fence", "Last tick", "Followers", "Live Activities"},
	}
	for i := range all {
		m := &all[i]
		fence, tick, read := "–", "–", "–"
		if m.Lease != nil {
			fence = fmt.Sprint(m.Lease.Fence)
		}
		if !m.LastTickAt.IsZero() {
			tick = operator.Ago(m.TickAgeSeconds)
		}
		switch w := m.Watched; {
		case w == nil:
		case w.Closely:
			read = "every ball"
		case w.Listed:
			read = "in the live list"
		default:
			read = "not in the live list"
		}
		if w := m.Watched; w != nil && w.From != "" {
			read += ", " + string(w.From)
			if !w.Next.IsZero() {
				read += ", next " + operator.Clock(w.Next, now)
			}
		}
		t.Rows = append(t.Rows, []string{
			strings.TrimSpace(m.Name + " " + m.MatchID), m.Status, strings.ReplaceAll(m.Phase, "_", " "), read, cmp.Or(m.Owner, "–"), fence, tick, fmt.Sprint(m.Followers), cmp.Or(countsText(m.Sessions), "none"),
		})
	}
	return t
}

func feedTable(h *cricketState) page.Table {
	t := page.Table{
		ID: "feed", Title: "Feed", None: "No feed is configured.",
		Heads: []string{"Endpoint", "State", "Calls this hour", "Reserve", "Failed", "Last good", "Last failure"},
	}
	for i := range h.Feed.Endpoints {
		e := &h.Feed.Endpoints[i]
		state := stateWord(string(e.State))
		if !e.Until.IsZero() {
			state += " until " + operator.Clock(e.Until, h.At)
		}
		t.Rows = append(t.Rows, []string{
			string(e.Endpoint), state, fmt.Sprintf("%d of %d", e.Used, e.Limit), fmt.Sprint(e.Reserve), fmt.Sprint(e.Failed), operator.Clock(e.GoodAt, h.At), e.LastFail,
		})
	}
	return t
}

// stateWord words an endpoint's state for people who do not know circuit breakers.
func stateWord(state string) string {
	word := map[string]string{"closed": "ok", "open": "failing, not called", "half-open": "failing, being retried", "broke": "no calls left", "resting": "told to wait"}[state]
	return cmp.Or(word, state)
}

func jobTable(h *cricketState) page.Table {
	t := page.Table{ID: "jobs", Title: "Jobs", None: "No job runs without a feed.", Heads: []string{"Job", "Runs", "Failed", "Last run", "Next run", "Last error"}}
	for i := range h.Feed.Jobs {
		j := &h.Feed.Jobs[i]
		t.Rows = append(t.Rows, []string{j.Name, fmt.Sprint(j.Runs), fmt.Sprint(j.Failed), operator.Clock(j.LastRun, h.At), operator.Clock(j.NextRun, h.At), j.LastError})
	}
	return t
}

func pushTable(p *pushHealth) page.Table {
	t := page.Table{ID: "pushes", Title: "Pushes", None: "Nothing is pushed: there is no key.", Heads: []string{"What", "Pushes"}}
	if !p.Configured {
		return t
	}
	t.Rows = [][]string{{"sent, for matches in progress", fmt.Sprint(p.Sent)}, {"accepted", fmt.Sprint(p.Accepted)}, {"refused or not answered", fmt.Sprint(p.Refused)}}
	for _, reason := range slices.Sorted(maps.Keys(p.Reasons)) {
		t.Rows = append(t.Rows, []string{reason + ", since the start", fmt.Sprint(p.Reasons[reason])})
	}
	return t
}

func oddTable(odd map[string]int64) page.Table {
	t := page.Table{ID: "odd", Title: "Feed anomalies", None: "The feed sent no unexpected values.", Heads: []string{"Kind", "Times"}}
	for _, kind := range slices.Sorted(maps.Keys(odd)) {
		t.Rows = append(t.Rows, []string{strings.ReplaceAll(kind, "_", " "), fmt.Sprint(odd[kind])})
	}
	return t
}

// readingTable shows how the live list is read.
func readingTable(h *cricketState) page.Table {
	f := &h.Feed
	leads := "another node, or none"
	if f.Leading {
		leads = "this node"
	}
	marquee := "none"
	if f.Marquee != 0 {
		marquee = fmt.Sprint("league ", f.Marquee)
	}
	return page.Table{ID: "reading", Title: "Live list", Heads: []string{"What", "Figure"}, Rows: [][]string{
		{"Leagues", fmt.Sprintf("%d, %d active", h.Leagues.Known, h.Leagues.Active)},
		{"The live list is read by", leads},
		{"Reads of it", fmt.Sprintf("%d, %d unchanged, %d failed", f.Polls, f.Unchanged, f.Failed)},
		{"Last good read", operator.Clock(f.LastAt, h.At)}, {"Marquee", marquee},
		{"Matches taken over", fmt.Sprint(f.Takeovers)}, {"Final reads", fmt.Sprint(f.FinalReads)},
		{"Replies cached", fmt.Sprintf("%d, %d too big", f.Cached, f.TooBig)},
	}}
}

// countsText returns "2 active, 1 pending".
func countsText(n map[string]int) string {
	parts := make([]string, 0, len(n))
	for status, count := range n {
		parts = append(parts, fmt.Sprintf("%d %s", count, status))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
