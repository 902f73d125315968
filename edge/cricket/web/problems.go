package web

import (
	"cmp"
	"fmt"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/httpapi/operator"
)

const (
	tickLate    = 5 * time.Minute  // a live match is polled at least every minute, even in a break
	ownerLate   = 75 * time.Second // for another node's match: its row is touched at least every minute, and takes a moment to arrive
	manyStale   = 3                // alerts in a row that were old news
	budgetTight = 0.9              // of the usable calls in an hour
)

// problemsOf lists in plain words what needs attention, the worst first; empty if all is well.
func problemsOf(h *cricketState) []string {
	p := problems{operator.Problems{At: h.At}}
	p.feed(h)
	p.push(&h.Push)
	p.jobs(h.Feed.Jobs)
	for i := range h.Matches {
		p.match(&h.Matches[i], h.Push.Configured)
	}
	return p.All
}

// problems collects them.
type problems struct{ operator.Problems }

func (p *problems) feed(h *cricketState) {
	f := &h.Feed
	if !f.Configured {
		p.Add("No feed is configured, so no match is read: set cricket.feed.token, or cricket.replay for recorded matches.")
		return
	}
	for i := range f.Endpoints {
		p.endpoint(&f.Endpoints[i])
	}
	p.standIns(h.Matches)
	switch {
	case f.LastError != "" && f.LastAt.IsZero():
		p.Add("The live list has not been read yet: %s.", f.LastError)
	case f.LastError != "":
		p.Add("The live list has not been read since %s: %s.", operator.Clock(f.LastAt, p.At), f.LastError)
	}
	if h.Leagues.Known > 0 && h.Leagues.Active == 0 {
		p.Add("No league is active, so no match is read: activate one of %d (PATCH /leagues/ID with {\"active\": true}).", h.Leagues.Known)
	}
}

// standIns reports how matches are polled while the live list is resting.
func (p *problems) standIns(all []matchState) {
	var next time.Time
	from := sportmonks.Endpoint("")
	for i := range all {
		if w := all[i].Watched; w != nil && w.StandIn && (from == "" || w.Next.Before(next)) {
			from, next = w.From, w.Next
		}
	}
	if from != "" {
		p.Add("The live list is not called for now: its matches are read by %s, next at %s.", from, operator.Clock(next, p.At))
	}
}

func (p *problems) endpoint(e *endpointHealth) {
	until := ""
	if !e.Until.IsZero() {
		until = " until " + operator.Clock(e.Until, p.At)
	}
	switch {
	case e.Alarm != "":
		p.Add("Action needed: the feed has refused %s since %s (%s).", e.Endpoint, operator.Clock(e.AlarmAt, p.At), e.Alarm)
	case e.State == "refused":
		p.Add("The feed refuses %s; it is not called%s (%s).", e.Endpoint, until, cmp.Or(e.LastFail, "no reason is known"))
	case e.State == "open" || e.State == "half-open":
		p.Add("The feed fails at %s; it is not called%s (%s).", e.Endpoint, until, cmp.Or(e.LastFail, "no reason is known"))
	case e.State == "resting":
		p.Add("The feed asked this node not to call %s%s.", e.Endpoint, until)
	case e.State == "broke":
		p.Add("This hour's calls to %s are used up (%d of %d, %d kept for final reads)%s.", e.Endpoint, e.Used, e.Limit, e.Reserve, until)
	case e.Limit > e.Reserve && float64(e.Used) >= budgetTight*float64(e.Limit-e.Reserve):
		p.Add("This hour's calls to %s are nearly used up: %d of %d. Matches are read less often until %s.", e.Endpoint, e.Used, e.Limit, operator.Clock(e.Reset, p.At))
	}
}

func (p *problems) push(h *pushHealth) {
	if !h.Configured {
		p.Add("Nothing is pushed: cricket.push.key is not set.")
		return
	}
	switch {
	case h.Paused.After(p.At):
		p.Add("Nothing is pushed until %s: Apple rejects this node's settings.", operator.Clock(h.Paused, p.At))
	case h.Circuit == "open":
		p.Add("Apple cannot be reached: pushes wait and are tried again.")
	case h.Circuit == "half-open":
		p.Add("Apple could not be reached and is being tried again.")
	}
	for i := range h.Alarms {
		a := &h.Alarms[i]
		p.Add("Apple answered %s %s, last at %s: %s", a.Reason, times(a.Count), operator.Clock(a.Last, p.At), a.Advice)
	}
}

func (p *problems) jobs(all []poll.JobStatus) {
	for i := range all {
		j := &all[i]
		if j.LastError == "" {
			continue
		}
		again := ""
		if !j.NextRun.IsZero() {
			again = ", and is tried again at " + operator.Clock(j.NextRun, p.At)
		}
		p.Add("The job %s failed at %s%s: %s.", j.Name, operator.Clock(j.LastRun, p.At), again, j.LastError)
	}
}

func (p *problems) match(m *matchState, pushes bool) {
	if m.Status != cricket.ActiveLive {
		return
	}
	name := cmp.Or(m.Name, "match "+m.MatchID)
	switch late := time.Duration(m.TickAgeSeconds * float64(time.Second)); {
	case late >= tickLate:
		p.Add("%s is live and has not been read for %d minutes.", name, int(late/time.Minute))
	case late >= ownerLate && m.Lease == nil && m.Owner != "":
		p.Add("%s is live and node %s, which reads it, has been silent for %d seconds: has it stopped?", name, m.Owner, int(late/time.Second))
	}
	if w := m.Watched; w != nil && w.Stale >= manyStale {
		p.Add("All alerts of %s are stale: the last %d were older than 90 seconds when the feed showed them, so phones were not told. "+
			"Are the feed's times late, or this node's clock fast?", name, w.Stale)
	}
	if w := m.Watched; w != nil && w.Unlisted != "" {
		p.Add("The feed gives %s the status %q, which its documents do not have: is it told rightly?", name, w.Unlisted)
	}
	active, pending := m.Sessions[string(phone.SessionActive)], m.Sessions[string(phone.SessionPending)]
	if pushes && m.Missing > 0 {
		p.Add("%s is live and %s of %d do not show: Apple accepted the start, and no update token came within two minutes. "+
			"These phones get ordinary alerts; do their apps register their tokens?", name, operator.Count(m.Missing, "card"), active+pending)
	}
	if pushes && m.Followers > 0 && active+pending == 0 {
		p.Add("%s is live with %s and no Live Activity: did their apps register a push-to-start token?", name, operator.Count(m.Followers, "follower"))
	}
}

// times returns "once" or "N times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
