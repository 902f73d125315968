package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/cli"
)

func newSync() *cobra.Command {
	return cli.Group(&cobra.Command{Use: "sync", Short: "Inspect the sync between a running node and its cloud"}, newSyncStatus())
}

func newSyncStatus() *cobra.Command {
	var f maintainFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the sync status of a running node and its cloud",
		Long: "Show whether the cloud can be reached, what waits for it and since when, what it has refused, and what needs an\n" +
			"operator. The node with that data directory must be running. -o json is for programs; its members are stable.\n" +
			"The exit code reports only whether the node answered: 0 if it did, whatever its status.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := f.dataDir(cmd)
			if err != nil {
				return err
			}
			st, err := edge.Ask(dir, func(a *admin.Client) (operator.SyncStatus, error) { return a.Sync(cmd.Context()) })
			if err != nil {
				return err
			}
			return f.print(cmd, st, syncText(&st))
		},
	}
	f.add(cmd)
	return cmd
}

// sheet formats text in columns.
type sheet struct {
	text strings.Builder
	w    *tabwriter.Writer
}

func newSheet() *sheet {
	s := &sheet{}
	s.w = tabwriter.NewWriter(&s.text, 0, 0, 2, ' ', 0)
	return s
}

// row writes a row. Control characters in cells become spaces, so that they cannot break a line or column.
func (s *sheet) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, c)
	}
	fmt.Fprintln(s.w, strings.TrimRight(strings.Join(cells, "\t"), "\t")) //nolint:errcheck // into memory
}

// gap starts a new table with its own column widths.
func (s *sheet) gap() { fmt.Fprintln(s.w) } //nolint:errcheck // into memory

func (s *sheet) String() string {
	_ = s.w.Flush() // into memory
	return s.text.String()
}

// syncText formats the status for people: the summary sentence, figures, and tables of anything notable.
func syncText(st *operator.SyncStatus) string {
	if !st.Configured {
		return "no cloud is configured (cloud.region): nothing is replicated\n"
	}
	s := newSheet()
	s.row(syncLine(st))
	for _, alarm := range st.Alarms {
		s.row("! " + alarm)
	}
	s.gap()
	s.row("cloud", st.Cloud)
	if st.Prefix != "" {
		s.row("prefix", st.Prefix)
	}
	s.row("waiting", syncWaiting(st))
	if st.LastError != "" {
		s.row("last error", st.LastError+" ("+instant(st.LastErrorAt)+")")
	}
	c := &st.Conflicts
	s.row("conflicts", fmt.Sprintf("%d open, %d quarantined, %d kept", c.Open, c.Quarantined, c.Kept))
	s.row("room", fmt.Sprintf("%s, %.0f %% used (%s)", st.Budget.Level, 100*st.Budget.Used, st.Budget.Which))
	s.row("kept after sending", fmt.Sprintf("%s, %s", operator.Count(int(st.Replay.Entries), "write"), cli.Megabytes(st.Replay.Bytes)))
	s.row("used", fmt.Sprintf("%s, %.1f write units, %.1f read units", operator.Count(int(st.Usage.Requests), "request"), st.Usage.WriteUnits, st.Usage.ReadUnits))
	if st.Reached {
		s.row("clock", fmt.Sprintf("%+.1f s off the cloud's", st.Ahead()))
	}
	s.row("node", fmt.Sprintf("%s, incarnation %d, boot %s", st.Node.Node, st.Node.Incarnation, st.Node.Boot))
	s.row("offline mode", st.Mode)
	return s.String() + syncTables(st)
}

// syncLine summarizes the status in one sentence.
func syncLine(st *operator.SyncStatus) string {
	writes := operator.Count(int(st.Waiting), "write")
	switch st.State {
	case "in_step":
		return "in sync with the cloud"
	case "behind":
		how := "in flight"
		if n := heldBack(st); n > 0 {
			how = fmt.Sprintf("waiting, %d of them for stopped tables", n)
		}
		if st.Since.IsZero() { // the clock was not set when the writes were made
			return fmt.Sprintf("behind: %s %s", writes, how)
		}
		return fmt.Sprintf("behind since %s: %s %s", instant(st.Since), writes, how)
	case "offline":
		return fmt.Sprintf("offline since %s: %s waiting", instant(st.Since), writes)
	default:
		return fmt.Sprintf("stopped: %s (%s waiting)", cmp.Or(st.Reason, "an operator has to act"), writes)
	}
}

// heldBack counts writes to stopped tables: they are not sent until somebody acts.
func heldBack(st *operator.SyncStatus) (n int) {
	for i := range st.Tables {
		if st.Tables[i].Stopped != nil {
			n += int(st.Tables[i].Waiting)
		}
	}
	return n
}

func syncWaiting(st *operator.SyncStatus) string {
	text := operator.Count(int(st.Waiting), "write")
	if !st.Oldest.IsZero() {
		text += fmt.Sprintf(", not in the cloud since %s (%s)", instant(st.Oldest), time.Duration(st.LagSeconds*float64(time.Second)).Round(time.Second))
	}
	if st.Unanswered > 0 {
		text += fmt.Sprintf(", %d unanswered (sent; the outcome is not known yet)", st.Unanswered)
	}
	if st.Doubtful > 0 {
		text += fmt.Sprintf(", %d doubtful (not shown here; the cloud decides)", st.Doubtful)
	}
	return text
}

// syncTables lists tables with waiting writes or problems, parked writes, polled tables, and leases.
func syncTables(st *operator.SyncStatus) string {
	s := newSheet()
	if notable := st.Told(); len(notable) > 0 {
		s.gap()
		s.row("TABLE", "WAITING", "PROBLEM")
		for _, t := range notable {
			s.row(t.Table, fmt.Sprint(t.Waiting), t.HeldUpBy())
		}
	}
	parked := false
	for i := range st.Workers {
		for _, p := range st.Workers[i].Parked {
			if !parked {
				s.gap()
				s.row("PARKED", "TABLE", "KEY", "LANE", "UNTIL", "BEHIND", "WHY")
				parked = true
			}
			s.row(p.WriteID, p.Table, string(p.Key), fmt.Sprint(st.Workers[i].Worker), instant(p.Until), fmt.Sprint(p.Behind), p.Words())
		}
	}
	if len(st.Feed) > 0 {
		s.gap()
		s.row("READ", "LAST PASS", "ITEMS", "ERRORS", "LAST ERROR")
		for _, f := range st.Feed {
			s.row(f.Rule, instant(f.LastPass), fmt.Sprint(f.Items), fmt.Sprint(f.Errors), f.LastError)
		}
	}
	if len(st.Leases) > 0 {
		s.gap()
		s.row("LEASE", "FENCE", "UNTIL")
		for _, l := range st.Leases {
			s.row(l.Key, fmt.Sprint(l.Fence), instant(l.Deadline))
		}
	}
	return s.String()
}

// instant formats a time for people.
func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
