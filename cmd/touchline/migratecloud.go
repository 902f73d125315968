package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/fault"
)

// cloudMigration is `migrate --cloud`.
type cloudMigration struct {
	cloud  bool
	config string
	output string
	o      edge.CloudMigration
}

func (m *cloudMigration) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.cloud, "cloud", false, "make and check the tables in the cloud")
	f.StringVar(&m.config, "config", "", "configuration file (default "+defaultFile+" if it exists)")
	f.BoolVar(&m.o.DryRun, "dry-run", false, "with --cloud: tell what would be done, and do nothing")
	f.BoolVar(&m.o.Add, "yes", false, "with --cloud: add what tables that are there lack")
	f.BoolVar(&m.o.NoStreams, "no-streams", false, "with --cloud: want no streams, for a server that has none")
	f.DurationVar(&m.o.Limit, "limit", time.Hour, "with --cloud: give up after that long; what the cloud has begun goes on there")
	outputFlag(cmd, &m.output)
}

func (m *cloudMigration) run(cmd *cobra.Command) error {
	// --cloud is no value of the configuration, which has a section of that name.
	c, err := load(m.config, pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError))
	if err != nil {
		return err
	}
	log, err := edge.NewLogger(edge.LogConfig{Format: c.Log.Format, Level: "warn"}, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	shown := newMeter(cmd)
	r, err := c.MigrateCloud(cmd.Context(), m.o, log, func(p edge.Progress) {
		shown.show(edge.Progress{What: fmt.Sprintf("%3d %% %s", p.Done*100/max(p.Total, 1), p.What)})
	})
	interrupted := errors.Is(err, context.Canceled)
	if err := shown.end(err); err != nil {
		if interrupted {
			return fault.Wrap(err, fault.Unavailable, "interrupted", "interrupted: what was begun goes on in the cloud, and the next run looks after the rest")
		}
		return err
	}
	f := maintainFlags{output: m.output}
	if err := f.print(cmd, r, cloudText(&r, m.o)); err != nil {
		return err
	}
	if r.Remaining > 0 {
		return fault.New(fault.Conflict, "cloud_differs", "%d difference(s) remain", r.Remaining)
	}
	return nil
}

// cloudText is the report for people: a line a table, and a line below it for each difference.
func cloudText(r *edge.CloudReport, o edge.CloudMigration) string {
	var out strings.Builder
	addable := 0
	for i := range r.Tables {
		t := &r.Tables[i]
		fmt.Fprintf(&out, "%s: %s\n", t.Table, cloudState(t, o.DryRun))
		for _, d := range t.Differences {
			what := d.String()
			switch {
			case d.Added:
				what = d.What + ": added: " + d.Want
			case d.Addable:
				addable++
			case d.Harmless:
				what += " (a node works with it as it is)"
			default:
				what += " (this cannot be changed while the table is there)"
			}
			fmt.Fprintf(&out, "  %s\n", what)
		}
	}
	switch {
	case addable > 0 && !o.Add:
		fmt.Fprintf(&out, "%d of these can be added: --yes does it\n", addable)
	case r.DryRun && r.Remaining > 0:
		out.WriteString("nothing was done: without --dry-run it is\n")
	case r.Remaining == 0:
		out.WriteString("the cloud is as it should be\n")
	}
	return out.String()
}

func cloudState(t *edge.CloudTableReport, dry bool) string {
	if t.State == "missing" && dry {
		return "missing, would be made"
	}
	return t.State
}
