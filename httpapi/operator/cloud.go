package operator

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store/attr"
)

// Cloud adds what about the cloud needs attention.
func (p *Problems) Cloud(st *SyncStatus) {
	if !st.Configured {
		return
	}
	for _, alarm := range st.Alarms {
		p.Add("%s", alarm)
	}
	if st.State == "offline" {
		still := ""
		if st.Mode == "strict" {
			still = " Work that needs a lease has stopped (cloud.offline: strict)."
		}
		p.Add("The cloud has been unreachable since %s (%s). The node serves what it has.%s", Clock(st.Since, p.At), waitingText(st.Waiting), still)
	}
	if n := st.Conflicts.Open; n > 0 {
		p.Add("The cloud did not accept %s as intended: see the conflicts below (touchline conflicts show ID).", Count(n, "write"))
	}
}

func waitingText(n int64) string {
	if n == 0 {
		return "no writes waiting"
	}
	return Count(int(n), "write") + " waiting"
}

// cloudSentence summarizes the state of the cloud, for a person at the venue.
func cloudSentence(st *SyncStatus, now time.Time) string {
	poor := ""
	if st.Reason != "" {
		poor = "; " + st.Reason
	}
	switch st.State {
	case "in_step":
		return "in sync: the cloud has everything written here" + poor
	case "behind":
		if st.Since.IsZero() { // the clock was not set when the writes were made
			return "behind: " + waitingText(st.Waiting) + poor
		}
		return fmt.Sprintf("behind since %s: %s%s", Clock(st.Since, now), waitingText(st.Waiting), poor)
	case "offline":
		return fmt.Sprintf("offline since %s: %s", Clock(st.Since, now), waitingText(st.Waiting))
	case "stopped":
		return "stopped: " + cmp.Or(st.Reason, "an operator has to act") + "; " + waitingText(st.Waiting)
	default:
		return "none is configured: nothing is replicated"
	}
}

// StatusTables returns the status as tables for people: the summary, waiting writes by table, parked writes, polled tables and leases.
// Without a cloud there is only the summary, which says so.
func (s *SyncStatus) StatusTables(now time.Time) []page.Table {
	if !s.Configured {
		return []page.Table{cloudTable(s, now)}
	}
	waiting := page.Table{ID: "waiting", Title: "Waiting for the cloud", None: "Nothing is waiting.", Heads: []string{"Table", "Writes", "Problem"}}
	for _, t := range s.NotableTables() {
		waiting.Rows = append(waiting.Rows, []string{t.Table, fmt.Sprint(t.Waiting), cmp.Or(t.HeldUpBy(), "–")})
	}
	parked := page.Table{ID: "parked", Title: "Parked: set aside while other writes go on", None: "Nothing is parked.", Heads: []string{"Write", "Table", "Key", "Until", "Behind it", "Why"}}
	for _, l := range s.Workers {
		for _, p := range l.Parked {
			parked.Rows = append(parked.Rows, []string{p.WriteID, p.Table, string(p.Key), Clock(p.Until, now), fmt.Sprint(p.Behind), p.Words()})
		}
	}
	read := page.Table{ID: "read", Title: "Read from the cloud", None: "Nothing is read.", Heads: []string{"Table", "Last pass", "Items", "Errors", "Last error"}}
	for _, f := range s.Feed {
		read.Rows = append(read.Rows, []string{f.Rule, Clock(f.LastPass, now), fmt.Sprint(f.Items), fmt.Sprint(f.Errors), cmp.Or(f.LastError, "–")})
	}
	leases := page.Table{ID: "leases", Title: "Leases", None: "This node holds none.", Heads: []string{"Lease", "Fence", "Until"}}
	for _, l := range s.Leases {
		leases.Rows = append(leases.Rows, []string{l.Key, fmt.Sprint(l.Fence), Clock(l.Deadline, now)})
	}
	return []page.Table{cloudTable(s, now), waiting, parked, read, leases}
}

func cloudTable(st *SyncStatus, now time.Time) page.Table {
	t := page.Table{ID: "cloud", Title: "Cloud", None: "No cloud is configured: nothing is replicated.", Heads: []string{"What", "Figure"}}
	if !st.Configured {
		return t
	}
	t.Rows = [][]string{
		{"State", cloudSentence(st, now)}, {"Cloud", st.Cloud}, {"Table prefix", cmp.Or(st.Prefix, "none")},
		{"Waiting writes", fmt.Sprint(st.Waiting)},
		{"Unanswered: sent, outcome not known yet", fmt.Sprint(st.Unanswered)},
		{"Doubtful: not shown here until the cloud decides", fmt.Sprint(st.Doubtful)},
		{"Oldest waiting since", Clock(st.Oldest, now)},
		{"Last error", lastErrorText(st, now)},
		{"Conflicts", fmt.Sprintf("%d open, %d quarantined, %d kept", st.Conflicts.Open, st.Conflicts.Quarantined, st.Conflicts.Kept)},
		{"Room for the backlog", fmt.Sprintf("%s, %.0f %% used (%s)", st.Budget.Level, 100*st.Budget.Used, cmp.Or(st.Budget.Which, "nothing"))},
		{"Kept after sending, in case the cloud is restored", Count(int(st.Replay.Entries), "write") + ", " + Size(st.Replay.Bytes)},
		{"Used since the start", fmt.Sprintf("%s, %.1f write units, %.1f read units", Count(int(st.Usage.Requests), "request"), st.Usage.WriteUnits, st.Usage.ReadUnits)},
		{"Clock", clockText(st)},
		{"Offline", offlineText(st.Mode)},
		{"Tables", readText(st)},
		{"This node", fmt.Sprintf("%s, incarnation %d, boot %s", st.Node.Node, st.Node.Incarnation, st.Node.Boot)},
	}
	return t
}

// readText names the tables that are sent to the cloud but not read from it.
func readText(st *SyncStatus) string {
	if len(st.SendsOnly) == 0 {
		return "sent and read"
	}
	return "sends only: " + strings.Join(st.SendsOnly, ", ") + " (what others write there is read when a request depends on it)"
}

// lastErrorText includes the time, because the last error stays after the cloud has come back.
func lastErrorText(st *SyncStatus, now time.Time) string {
	if st.LastError == "" {
		return "none"
	}
	return st.LastError + " (" + Clock(st.LastErrorAt, now) + ")"
}

// offlineText describes what continues without the cloud.
func offlineText(mode string) string {
	switch mode {
	case "strict":
		return "strict: work that needs a lease stops"
	case "observe":
		return "observe: polling goes on, nothing is pushed"
	}
	return mode
}

func clockText(st *SyncStatus) string {
	if !st.Reached {
		return "unknown: the cloud has not been reached yet"
	}
	return fmt.Sprintf("%+.1f s off the cloud's", st.Ahead())
}

// conflictTable lists the newest open conflicts.
func conflictTable(h *State) page.Table {
	t := page.Table{ID: "conflicts", Title: "Conflicts", None: "No conflict is open.", Heads: []string{"Number", "At", "Kind", "Table", "Key", "Writes", "What"}}
	for i := range h.Conflicts {
		c := &h.Conflicts[i]
		t.Rows = append(t.Rows, []string{fmt.Sprint(c.ID), Clock(c.At, h.At), string(c.Kind), c.Table, string(attr.AppendJSON(nil, c.Key)), fmt.Sprint(c.Writes), c.Text})
	}
	return t
}
