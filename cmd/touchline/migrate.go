package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/fault"
)

func newMigrate() *cobra.Command {
	var m cloudMigration
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create the cloud's tables, or carry over data of other versions",
		Long: "With --cloud: create the tables missing in the configured cloud, check the existing ones, and list every difference\n" +
			"from what this version needs. Nothing existing is changed or dropped; --yes adds missing indexes, expiries and\n" +
			"streams. After an interrupt, run it again to continue. The exit code is 1 if anything remains that keeps a node\n" +
			"from working properly.",
		Example: "  touchline migrate --cloud --dry-run\n  touchline migrate --cloud --yes",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.misused(cmd); err != nil {
				return err
			}
			if !m.cloud {
				return cmd.Help()
			}
			return m.run(cmd)
		},
	}
	m.add(cmd)
	cmd.AddCommand(newMigrateLAv2())
	return cmd
}

func newMigrateLAv2() *cobra.Command {
	var f maintainFlags
	var o edge.LAv2Options
	cmd := &cobra.Command{
		Use:   "la-v2",
		Short: "Carry over the tables from before Live Activities v2",
		Long: "Carry the tables from before Live Activities v2 over: activity-subscriptions into live-activities,\n" +
			"match-processing-state into active-matches; prematch-notifications and state-hashes have no successor.\n" +
			"Without --apply it writes nothing and reports what it would do. Existing new rows stay as they are. After an\n" +
			"interrupt, run it again. A running node does the work itself.",
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(f.config, cmd.Flags())
			if err != nil {
				return err
			}
			m := newMeter(cmd)
			r, err := edge.MigrateLAv2(cmd.Context(), c.DataDir, o, func(p edge.Progress) {
				m.show(edge.Progress{What: fmt.Sprintf("%s: %d rows", p.What, p.Done)})
			})
			interrupted := errors.Is(err, context.Canceled)
			if err := m.end(err); err != nil {
				if interrupted && o.Apply {
					return fault.Wrap(err, fault.Unavailable, "interrupted", "interrupted: what was written is kept, and the next run finds it there")
				}
				return err
			}
			if err := f.print(cmd, r, migrationText(&r, o.DropOld)); err != nil {
				return err
			}
			if r.KeptOld != "" {
				return fault.New(fault.Conflict, "kept_old", "the old tables stay: %s", r.KeptOld)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&o.Apply, "apply", false, "write; without it nothing is written")
	cmd.Flags().BoolVar(&o.DropOld, "drop-old", false, "drop the old tables if all of their rows could be read")
	return cmd
}

// migrationText is the report for people.
func migrationText(r *edge.LAv2Report, drop bool) string {
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

func countsText(c *edge.LAv2Counts, written string) string {
	return fmt.Sprintf("%d read, %d %s, %d already there, %d skipped, %d unreadable",
		c.Read, c.Written, written, c.AlreadyThere, sum(c.Skipped), sum(c.Unreadable))
}

func sum(byReason map[string]int64) (n int64) {
	for _, m := range byReason {
		n += m
	}
	return n
}

func reasons(out *strings.Builder, what string, byReason map[string]int64) {
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(out, "  %s, %s: %d\n", what, reason, byReason[reason])
	}
}
