package cricketapp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/lav2"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

func newMigrateLAv2(sh *app.Shell) *cobra.Command {
	var file, output string
	var o lav2.Options
	cmd := &cobra.Command{
		Use:   "la-v2",
		Short: "Carry over the tables from before Live Activities v2",
		Long: "Carry the tables from before Live Activities v2 over: activity-subscriptions into live-activities,\n" +
			"match-processing-state into active-matches; prematch-notifications and state-hashes have no successor.\n" +
			"Without --apply it writes nothing and reports what it would do. Existing new rows stay as they are. After an\n" +
			"interrupt, run it again. A running node does the work itself.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, _, err := sh.Load(cmd, file, name)
			if err != nil {
				return err
			}
			m := cli.NewMeter(cmd)
			r, err := MigrateLAv2(cmd.Context(), dir, o, func(p admin.Progress) {
				m.ShowProgress(fmt.Sprintf("%s: %d rows", p.What, p.Done), 0, 0)
			})
			interrupted := errors.Is(err, context.Canceled)
			if err := m.End(err); err != nil {
				if interrupted && o.Apply {
					return fault.Wrap(err, fault.Unavailable, "interrupted", "interrupted: what was written is kept, and the next run finds it there")
				}
				return err
			}
			if err := cli.Print(cmd, output, r, migrationText(&r, o.DropOld)); err != nil {
				return err
			}
			if r.KeptOld != "" {
				return fault.New(fault.Conflict, "kept_old", "the old tables stay: %s", r.KeptOld)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file (default "+sh.DefaultFile+" if it exists)")
	cmd.Flags().String("data-dir", sh.DataDir, "directory of the node's database")
	cli.OutputFlag(cmd, &output)
	cmd.Flags().BoolVar(&o.Apply, "apply", false, "write; without it nothing is written")
	cmd.Flags().BoolVar(&o.DropOld, "drop-old", false, "drop the old tables if all of their rows could be read")
	return cmd
}

// migrationText returns the report as text.
func migrationText(r *lav2.Report, drop bool) string {
	var out strings.Builder
	if len(r.Tables) == 0 {
		return "there are no old tables: nothing to do\n"
	}
	written := "written"
	if !r.Applied {
		written = "to write"
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		becomes := t.Becomes
		if becomes == "" {
			becomes = "nothing"
		}
		fmt.Fprintf(&out, "%s -> %s: %s\n", t.Table, becomes, countsText(&t.Counts, written))
		reasons(&out, "skipped", t.Skipped)
		reasons(&out, "unreadable", t.Unreadable)
		reasons(&out, "left behind", t.Left)
		if t.Dropped && r.Applied {
			out.WriteString("  the old table is dropped\n")
		}
	}
	fmt.Fprintf(&out, "total: %s\n", countsText(&r.Total, written))
	switch {
	case !r.Applied && drop && r.KeptOld == "":
		out.WriteString("nothing was written: use --apply to write, which also drops the old tables\n")
	case !r.Applied:
		out.WriteString("nothing was written: use --apply to write\n")
	}
	return out.String()
}

func countsText(c *lav2.Counts, written string) string {
	return fmt.Sprintf("%d read, %d %s, %d already there, %d skipped, %d unreadable",
		c.Read, c.Written, written, c.AlreadyThere, sum(c.Skipped), sum(c.Unreadable))
}

// sum adds up counts by kind.
func sum[N int | int64](by map[string]N) (n N) {
	for _, m := range by {
		n += m
	}
	return n
}

func reasons(out *strings.Builder, what string, byReason map[string]int64) {
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(out, "  %s, %s: %d\n", what, reason, byReason[reason])
	}
}
