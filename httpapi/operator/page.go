package operator

import (
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/page"
)

// Page returns the Status page: problems, the node, its applications, its cloud, and the applications' tables.
func (s *State) Page() page.OperatorInput {
	// A new slice: the state is cached and rendered concurrently.
	tables := append([]page.Table{nodeTable(s), appTable(s.Applications)}, s.Sync.StatusTables(s.At)...)
	if s.Sync.Configured {
		tables = append(tables, conflictTable(s))
	}
	if left, ok := leftOutTable(s); ok {
		tables = append(tables, left)
	}
	tables = append(tables, s.Tables...)
	in := page.OperatorInput{At: Clock(s.At, s.At), Problems: s.Problems, Damages: damageForms(s), Tables: tables}
	for i := range s.Derived {
		in.Counted = append(in.Counted, s.Derived[i].lines(len(s.Applications))...)
	}
	in.Games = s.Games.lines(len(s.Applications), s.At)
	return in
}

// damageForms returns a form for each damage, with which an admin says that it was read.
func damageForms(s *State) (forms []page.DamageForm) {
	for i := range s.Node.Damages {
		d := &s.Node.Damages[i]
		forms = append(forms, page.DamageForm{ID: d.ID, Found: d.Found.UTC().Format("2 January 2006 at 15:04 UTC")})
	}
	return forms
}

func nodeTable(s *State) page.Table {
	n := &s.Node
	t := page.Table{ID: "node", Title: "This node", Heads: []string{"What", "Figure"}, Rows: [][]string{
		{"Version", s.Version}, {"Running for", Span(n.UptimeSeconds)}, {"Memory", Size(n.MemoryBytes)},
	}}
	add := func(what, format string, args ...any) {
		t.Rows = append(t.Rows, []string{what, fmt.Sprintf(format, args...)})
	}
	if d := n.Disk; d != nil {
		add("Database", "%s, %s of it used", Size(d.File), Size(d.Used))
		if d.Grow >= 0 {
			add("Room to grow", "%s", Size(d.Grow))
		}
	}
	if v := &n.Chores.Verify; !v.Ended.IsZero() {
		add("Items on disk", "%s verified at %s, %d damaged", Count(int(v.Items), "item"), Clock(v.Ended, s.At), v.Damaged)
	}
	add("Last write to disk", "%.1f ms", n.Commits.LastMillis)
	add("Streams", "%d of %d", s.Streams.Open, s.Streams.Limit)
	if e := n.DynamoDB; e != nil {
		add("DynamoDB API", "%s", e.Listen)
	}
	if m := n.Mail; m != nil {
		add("Mail", "%s to send, %d given up in 24 hours", Count(m.Waiting, "message"), m.GivenUp)
	}
	if c := n.Certificate; c != nil && c.Kind != "" {
		add("Certificate", "%s, until %s, for %s", c.Kind, c.NotAfter.Format(time.DateOnly), strings.Join(c.Names, ", "))
	}
	return t
}

func appTable(apps []AppStatus) page.Table {
	t := page.Table{ID: "applications", Title: "Applications", None: "No application runs.", Heads: []string{"Application", "State", "Requests", "Failed"}}
	for i := range apps {
		a := &apps[i]
		t.Rows = append(t.Rows, []string{a.Title, a.Words(), fmt.Sprint(a.Requests), fmt.Sprint(a.Failed)})
	}
	return t
}
