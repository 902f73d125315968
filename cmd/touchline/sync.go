package main

import (
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

// syncText formats the status for people: what needs an operator, then the tables of the Status page that have anything to show.
func syncText(st *operator.SyncStatus) string {
	if !st.Configured {
		return "no cloud is configured (cloud.region): nothing is replicated\n"
	}
	s := newSheet()
	s.row("Sync with the cloud at " + instant(st.At) + ", as all times here")
	for _, alarm := range st.Alarms {
		s.row("! " + alarm)
	}
	for _, t := range st.StatusTables(st.At) {
		if len(t.Rows) == 0 {
			continue
		}
		s.gap()
		s.row(t.Title)
		s.row(t.Heads...)
		for _, row := range t.Rows {
			s.row(row...)
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
