package replica

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

func (s *Status) alarms() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Node.Stopped != "" {
		add("Nothing is sent: %s.", s.Node.Stopped)
	} else if s.Why != "" {
		add("Nothing is sent: %s; %s.", s.Why, s.Do)
	}
	if !s.moves() {
		out = append(out, stoppedAlarms(s.Tables)...)
	}
	out = append(out, s.Standstill...)
	switch {
	case s.Budget.Level > flow.LevelOK && s.Budget.Which == "age":
		add("Writes have been waiting for the cloud for %d hours: they are lost if this machine is.", int(s.LagSeconds/3600))
	case s.Budget.Level > flow.LevelOK:
		add("The queue for the cloud is %.0f %% full (%s): %s.", 100*s.Budget.Used, s.Budget.Which, flow.RefusedAt(s.Budget.Level))
	}
	if s.Unkept > 0 {
		add("The cloud's answers to %s cannot be stored: see the log.", countOf(int(s.Unkept), "write"))
	}
	c := &s.Conflicts
	if c.Quarantined > 0 {
		add("%s cannot be sent as they are: retry or discard their conflicts.", countOf(c.Quarantined, "write"))
	}
	return out
}

// stoppedAlarms returns one line per reason for which tables are stopped. A table with nothing waiting is no alarm, unless it
// cannot be read either.
func stoppedAlarms(all []TableStatus) (out []string) {
	var whys []string
	tables, waiting := map[string][]string{}, map[string]int64{}
	for i := range all {
		t := &all[i]
		if t.Stopped == nil || t.Behind == 0 && !strings.HasPrefix(t.Stopped.Why, remote.WhyOtherKeys) {
			continue
		}
		why := t.Stopped.Why
		if !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
		tables[why] = append(tables[why], t.Table)
		waiting[why] += t.Behind
	}
	for _, why := range whys {
		of, wait := "table", "writes wait"
		if len(tables[why]) > 1 {
			of = "tables"
		}
		if waiting[why] == 1 {
			wait = "write waits"
		}
		out = append(out, fmt.Sprintf("Nothing is sent to the %s %s (%d %s): %s.", of, strings.Join(tables[why], ", "), waiting[why], wait, why))
	}
	return out
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// standsAfter is how long writes to a table may wait without one being sent before somebody should know: three usual intervals of the feed.
const standsAfter = 90 * time.Second

// standstills remembers since when writes have waited and none was sent, by table. Housekeeping updates it.
type standstills struct {
	mu    sync.Mutex
	waits map[string]time.Time
}

// update looks at what waits now. The time in which the cloud is away does not count.
func (s *standstills) update(all outbox.Counts, paces *flow.Paces, link *flow.Link, now time.Time) {
	online, is := link.OnlineSince()
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.waits
	s.waits = map[string]time.Time{}
	if !is {
		return
	}
	for table, n := range all {
		if n.Entries == 0 {
			continue
		}
		since, waited := before[table]
		if !waited {
			since = now
		}
		s.waits[table] = flow.MaxTime(flow.MaxTime(since, online), paces.LastTaken(table))
	}
}

// standingSince returns the tables at a standstill, and since when.
func (s *standstills) standingSince(now time.Time) map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := maps.Clone(s.waits)
	maps.DeleteFunc(out, func(_ string, at time.Time) bool { return now.Sub(at) < standsAfter })
	return out
}

// countBehind counts the writes that wait for each stopped table, as far as the workers list them. A transaction is counted with the table in
// which it begins, although it may wait for another one.
func (s *Status) countBehind() {
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.Stopped == nil {
			continue
		}
		t.Behind = t.Waiting
		for _, p := range s.parkedBatches() {
			if p.Table != t.Table && slices.Contains(p.tables, t.Table) {
				t.Behind++
			}
		}
	}
}

// parkedBatches lists what the workers have put aside.
func (s *Status) parkedBatches() (out []*ParkStatus) {
	for i := range s.Workers {
		for j := range s.Workers[i].Parked {
			out = append(out, &s.Workers[i].Parked[j])
		}
	}
	return out
}

// moves reports whether writes should arrive and be sent: the cloud can be reached, and this node may send.
func (s *Status) moves() bool { return s.Up && s.Node.Stopped == "" }

// standstill says in words what does not move although the cloud can be reached.
func (s *Status) standstill() (out []string) {
	if !s.moves() {
		return nil
	}
	out = slices.Concat(stoppedAlarms(s.Tables), s.lateAlarms(), s.refusedAlarms(), s.missingAlarms())
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.Stands.IsZero() || t.Stopped != nil {
			continue
		}
		if why, stands := s.whyItStands(t); stands {
			out = append(out, fmt.Sprintf("Nothing has been sent to the table %s for %s, and %s for it: %s.",
				t.Table, spanText(s.At.Sub(t.Stands)), waitText(t.Waiting), why))
		}
	}
	return out
}

// whyItStands returns what holds up the writes of a table at a standstill; false: they wait as the protocol wants, or for a person's decision
// that has a line of its own.
func (s *Status) whyItStands(t *TableStatus) (why string, stands bool) {
	planned := s.Conflicts.Quarantined > 0
	for _, p := range s.parkedBatches() {
		switch {
		case p.Table != t.Table:
		case p.Why == flow.WhyStopped, strings.HasPrefix(p.Why, whyOneTable): // told with the table that stopped
			planned = true
		case waitsByPlan(p.Why):
			planned = true
		default:
			return p.Words(), true
		}
	}
	if planned {
		return "", false
	}
	if why = t.HeldUpBy(); why == "" {
		why = "touchline sync status and the log may say why; a restart of the node is safe"
	}
	return why, true
}

// waitsByPlan reports whether a batch waits as the protocol wants, and goes on by itself.
func waitsByPlan(why string) bool {
	switch why {
	case intent.WhyEvents, intent.WhyHold, intent.WhyCount, intent.WhyYield, intent.WhyReplay:
		return true
	}
	return false
}

// whyOneTable begins the reason of a transaction that waits for one of its tables, when the cloud does not say which.
const whyOneTable = "one of its tables is missing, or this node may not write to it"

// missingAlarms says that transactions wait for one of their tables, when the cloud does not say which.
func (s *Status) missingAlarms() []string {
	waiting, tables := int64(0), []string(nil)
	for _, p := range s.parkedBatches() {
		if strings.HasPrefix(p.Why, whyOneTable) {
			waiting++
			tables = append(tables, p.tables...)
		}
	}
	if waiting == 0 {
		return nil
	}
	slices.Sort(tables)
	return []string{fmt.Sprintf("One of the tables %s is missing in the cloud, or this node may not write to it, and %s for it: "+
		"touchline migrate --cloud creates tables, and %s.", strings.Join(slices.Compact(tables), ", "), waitText(waiting), remedyPolicy)}
}

// lateAlarms says which tables are not read although the cloud can be reached, a line for each reason.
func (s *Status) lateAlarms() (out []string) {
	var whys []string
	tables, since := map[string][]string{}, map[string]time.Time{}
	for i := range s.Feed {
		rule := &s.Feed[i]
		if rule.LateSince.IsZero() || s.hasOtherKeys(rule.Table) {
			continue
		}
		why := rule.LastError
		switch {
		case rule.Denied:
			why = whyUnreadable
		case why == "":
			why = "no reading has ended since then"
		}
		if !slices.Contains(whys, why) {
			whys = append(whys, why)
			since[why] = rule.LateSince
		}
		if !slices.Contains(tables[why], rule.Table) {
			tables[why] = append(tables[why], rule.Table)
		}
		if rule.LateSince.Before(since[why]) {
			since[why] = rule.LateSince
		}
	}
	for _, why := range whys {
		out = append(out, fmt.Sprintf("What others write to %s does not arrive here; not read completely for %s: %s.",
			strings.Join(tables[why], ", "), spanText(s.At.Sub(since[why])), why))
	}
	return out
}

// whyUnreadable is why tables are not read that this node has no permission for.
const whyUnreadable = "this node may not read them (" + remedyPolicy + ")"

// refusedAlarms says which tables cannot be read when a request depends on it, a line for each reason. Those that a rule cannot read either
// have one already.
func (s *Status) refusedAlarms() (out []string) {
	type reason struct{ actions, why string }
	var reasons []reason
	tables, since := map[reason][]string{}, map[reason]time.Time{}
	for i := range s.Refused {
		r := &s.Refused[i]
		late := func(rule feed.Status) bool { return rule.Table == r.Table && !rule.LateSince.IsZero() }
		if slices.ContainsFunc(s.Feed, late) || s.hasOtherKeys(r.Table) {
			continue
		}
		of := reason{strings.Join(r.Actions, " and "), r.Why}
		if r.Denied {
			of.why = whyUnreadable
		}
		if len(tables[of]) == 0 {
			reasons = append(reasons, of)
		}
		tables[of] = append(tables[of], r.Table)
		if at := since[of]; at.IsZero() || r.Since.Before(at) {
			since[of] = r.Since
		}
	}
	for _, of := range reasons {
		out = append(out, fmt.Sprintf("Requests that depend on what others write to %s are judged without it; %s refused for %s: %s.",
			strings.Join(tables[of], ", "), of.actions, spanText(s.At.Sub(since[of])), of.why))
	}
	return out
}

// hasOtherKeys reports whether a table is stopped because of its keys, which has a line of its own.
func (s *Status) hasOtherKeys(table string) bool {
	return slices.ContainsFunc(s.Tables, func(t TableStatus) bool {
		return t.Table == table && t.Stopped != nil && strings.HasPrefix(t.Stopped.Why, remote.WhyOtherKeys)
	})
}

// spanText returns a span of time for people.
func spanText(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	}
	return fmt.Sprintf("%d hours", int(d.Hours()))
}

func waitText(n int64) string {
	if n == 1 {
		return "1 write waits"
	}
	return fmt.Sprintf("%d writes wait", n)
}
