package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

// cloudMigration implements `migrate --cloud`.
type cloudMigration struct {
	cloud  bool
	config string
	output string
	o      edge.CloudMigration
}

func (m *cloudMigration) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.cloud, "cloud", false, "create and check the tables in the cloud")
	configFlag(cmd, &m.config)
	f.BoolVar(&m.o.DryRun, "dry-run", false, "with --cloud: report what would be done, and change nothing")
	f.BoolVar(&m.o.Add, "yes", false, "with --cloud: add what existing tables lack")
	f.BoolVar(&m.o.NoStreams, "no-streams", false, "with --cloud: require no streams, for a server without them")
	f.DurationVar(&m.o.Limit, "limit", limitUsual, "with --cloud: time limit; work already started in the cloud continues there")
	cli.OutputFlag(cmd, &m.output)
}

// limitUsual is the default of --limit.
const limitUsual = time.Hour

// refuseMisuse refuses flags that have no meaning together.
func (m *cloudMigration) refuseMisuse(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !m.cloud {
			err = fmt.Errorf("--%s needs --cloud", f.Name)
		}
	})
	if err == nil && m.o.Limit <= 0 {
		err = fmt.Errorf("--limit must be greater than zero, not %s", m.o.Limit)
	}
	if err != nil {
		return cli.Misuse(cmd, err)
	}
	return nil
}

func (m *cloudMigration) run(cmd *cobra.Command) error {
	// --cloud is not a configuration value, although there is a section of that name.
	c, err := load(m.config, pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError))
	if err != nil {
		return err
	}
	log, err := node.NewLogger(node.LogConfig{Format: c.Log.Format, Level: "warn"}, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	meter := cli.NewMeter(cmd)
	r, failed := c.MigrateCloud(cmd.Context(), m.o, log, func(p edge.Progress) {
		meter.ShowProgress(fmt.Sprintf("%3d %% %s", p.Done*100/max(p.Total, 1), p.What), 0, 0)
	})
	interrupted := errors.Is(failed, context.Canceled)
	failed = meter.End(failed)
	if failed == nil || didAnything(&r) {
		f := maintainFlags{output: m.output}
		if err := f.print(cmd, r, cloudText(&r, m.o, failed == nil)); err != nil {
			return err
		}
	}
	switch {
	case interrupted:
		return fault.Wrap(failed, fault.Unavailable, "interrupted", "interrupted: work already started continues in the cloud, and the next run does the rest")
	case failed != nil:
		return failed
	case r.Remaining > 0:
		return fault.New(fault.Conflict, "cloud_differs", "%s left", operator.Count(r.Remaining, "difference"))
	}
	return nil
}

// didAnything reports whether a failed run changed the cloud, so that its report is worth showing.
func didAnything(r *edge.CloudReport) bool {
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.State == "created" || slices.ContainsFunc(t.Differences, func(d edge.CloudDifference) bool { return d.Added }) {
			return true
		}
	}
	return false
}

// cloudText formats the report for people: which cloud, a line per table, and below it a line per difference. For a run that did not
// finish (whole is false) it shows only what was done.
func cloudText(r *edge.CloudReport, o edge.CloudMigration, whole bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "the cloud %s", r.Cloud)
	if r.Prefix != "" {
		fmt.Fprintf(&out, ", table name prefix %s", r.Prefix)
	}
	out.WriteString("\n")
	addable := 0
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Table == "" || !whole && t.State == "ok" {
			continue // not, or not completely, checked
		}
		fmt.Fprintf(&out, "%s: %s\n", t.Table, cloudState(t, o.DryRun))
		for _, d := range t.Differences {
			if d.Addable && !d.Added {
				addable++
			}
			fmt.Fprintf(&out, "  %s\n", differenceText(&d, o))
		}
	}
	switch {
	case !whole:
	case addable > 0 && !o.Add:
		fmt.Fprintf(&out, "%d of these can be added: use --yes to add them\n", addable)
	case r.DryRun && r.Remaining > 0:
		out.WriteString("nothing was done: this was a dry run\n")
	case r.Remaining == 0:
		out.WriteString("the cloud's tables are as this version needs them\n")
	}
	return out.String()
}

// differenceText describes a difference, and whether it can be removed.
func differenceText(d *edge.CloudDifference, o edge.CloudMigration) string {
	switch {
	case d.Added:
		return d.What + ": added: " + d.Want
	case d.Addable && o.Add && o.DryRun:
		return d.String() + " (would be added)"
	case d.Addable:
		return d.String()
	case d.Harmless:
		return d.String() + " (a node works with it as it is)"
	case d.Fixed:
		return d.String() + " (this cannot be changed while the table exists)"
	default:
		return d.String() + " (not changed here: it may not be this node's; change it in the cloud)"
	}
}

func cloudState(t *edge.CloudTableReport, dry bool) string {
	if t.State == "missing" && dry {
		return "missing, would be created"
	}
	return t.State
}
