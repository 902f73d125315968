package httpapi

import (
	"cmp"
	"fmt"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

const (
	tickLate    = 5 * time.Minute  // a live match is read at least every minute, in a break too
	ownerLate   = 75 * time.Second // of a match of another node: its row is touched every minute, and takes a moment to come here
	budgetTight = 0.9              // of what may be used of an hour's calls
	almostFull  = 0.9              // of the streams that may be open
)

// problemsOf says in plain words what a person should look at, the worst first; none: all is well.
func problemsOf(h *hubState, checks []Check) []string {
	p := problemList{at: h.At, all: []string{}}
	for _, c := range checks {
		switch {
		case c.Err != nil:
			p.add("This node is not ready (%s): %v.", c.Name, c.Err)
		case c.Warning != "" && c.Name != CheckCloud: // which says it with its other alarms
			p.add("This node's %s: %s.", c.Name, c.Warning)
		}
	}
	p.cloud(&h.Sync)
	p.feed(h)
	p.push(&h.Push)
	p.jobs(h.Feed.Jobs)
	for i := range h.Matches {
		p.match(&h.Matches[i], h.Push.Configured)
	}
	if float64(h.Streams.Open) >= almostFull*float64(h.Streams.Limit) {
		p.add("%d of %d streams are open: readers will be turned away (http.max_streams).", h.Streams.Open, h.Streams.Limit)
	}
	return p.all
}

// problemList collects problems.
type problemList struct {
	at  time.Time
	all []string
}

func (p *problemList) add(format string, args ...any) {
	p.all = append(p.all, fmt.Sprintf(format, args...))
}

func (p *problemList) feed(h *hubState) {
	f := &h.Feed
	if !f.Configured {
		p.add("No feed is configured, so no match is read: set cricket.feed.token, or cricket.replay for recorded matches.")
		return
	}
	for i := range f.Endpoints {
		p.endpoint(&f.Endpoints[i])
	}
	p.standIns(h.Matches)
	switch {
	case f.LastError != "" && f.LastAt.IsZero():
		p.add("The live list could not be read yet: %s.", f.LastError)
	case f.LastError != "":
		p.add("The live list could not be read since %s: %s.", clockOf(f.LastAt, p.at), f.LastError)
	}
	if h.Leagues.Known > 0 && h.Leagues.Active == 0 {
		p.add("No league is active, so no match is read: activate one of %d (PATCH /leagues/ID with {\"active\": true}).", h.Leagues.Known)
	}
}

// standIns says how the matches of the live list are read while it is left alone.
func (p *problemList) standIns(all []hubMatch) {
	var next time.Time
	from := ""
	for i := range all {
		if w := all[i].Watched; w != nil && w.StandIn && (from == "" || w.Next.Before(next)) {
			from, next = w.From, w.Next
		}
	}
	if from != "" {
		p.add("The live list is left alone: its matches are read by %s meanwhile, next at %s.", from, clockOf(next, p.at))
	}
}

func (p *problemList) endpoint(e *EndpointHealth) {
	until := ""
	if !e.Until.IsZero() {
		until = ", until " + clockOf(e.Until, p.at)
	}
	switch {
	case e.Alarm != "":
		p.add("Action needed: the feed refuses %s since %s (%s).", e.Endpoint, clockOf(e.AlarmAt, p.at), e.Alarm)
	case e.State == "refused":
		p.add("The feed refuses %s; it is left alone%s (%s).", e.Endpoint, until, cmp.Or(e.LastError, "no reason is known"))
	case e.State == "open" || e.State == "half-open":
		p.add("The feed fails at %s; it is left alone%s (%s).", e.Endpoint, until, cmp.Or(e.LastError, "no reason is known"))
	case e.State == "resting":
		p.add("The feed asks for a rest at %s%s.", e.Endpoint, until)
	case e.State == "broke":
		p.add("The calls of this hour at %s are used up (%d of %d, %d kept for final reads)%s.", e.Endpoint, e.Used, e.Limit, e.Reserve, until)
	case e.Limit > e.Reserve && float64(e.Used) >= budgetTight*float64(e.Limit-e.Reserve):
		p.add("The calls of this hour at %s are nearly used up: %d of %d. Matches are read less often until %s.", e.Endpoint, e.Used, e.Limit, clockOf(e.ResetAt, p.at))
	}
}

func (p *problemList) push(h *PushHealth) {
	if !h.Configured {
		p.add("Nothing is pushed: cricket.push.key is not set.")
		return
	}
	if h.Paused.After(p.at) {
		p.add("Nothing is pushed until %s: Apple rejects this node's settings.", clockOf(h.Paused, p.at))
	}
	switch h.Circuit {
	case "open":
		p.add("Apple cannot be reached: pushes wait and are tried again.")
	case "half-open":
		p.add("Apple could not be reached and is being tried again.")
	}
	for i := range h.Alarms {
		a := &h.Alarms[i]
		p.add("Apple answered %s %s, last at %s: %s", a.Reason, times(a.Count), clockOf(a.Last, p.at), a.Advice)
	}
}

func (p *problemList) jobs(all []JobHealth) {
	for i := range all {
		j := &all[i]
		if j.LastError == "" {
			continue
		}
		again := ""
		if !j.NextRun.IsZero() {
			again = ", and is tried again at " + clockOf(j.NextRun, p.at)
		}
		p.add("The job %s failed at %s%s: %s.", j.Name, clockOf(j.LastRun, p.at), again, j.LastError)
	}
}

func (p *problemList) match(m *hubMatch, pushes bool) {
	if m.Status != cricket.ActiveLive {
		return
	}
	name := cmp.Or(m.Name, "match "+m.MatchID)
	switch late := time.Duration(m.TickAgeSeconds * float64(time.Second)); {
	case late >= tickLate:
		p.add("%s is live and was not read for %d minutes.", name, int(late/time.Minute))
	case late >= ownerLate && m.Lease == nil && m.Owner != "":
		p.add("%s is live and node %s, which looks after it, has said nothing for %d seconds: has it ended?", name, m.Owner, int(late/time.Second))
	}
	active, pending := m.Sessions[string(cricket.SessionActive)], m.Sessions[string(cricket.SessionPending)]
	if pushes && pending > 0 && m.Phase != string(cricket.PhaseStumps) {
		p.add("%s is live and %d of %d Live Activities are pending: no update token has come from these phones, so no alert reaches them.",
			name, pending, active+pending)
	}
	if pushes && m.Followers > 0 && active+pending == 0 {
		p.add("%s is live with %s and no Live Activity: did their apps register a push-to-start token?", name, counting(m.Followers, "follower"))
	}
}

// times writes how often.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// counting writes a number of things.
func counting(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
