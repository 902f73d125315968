package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
)

func newCompact() *cobra.Command {
	var f maintainFlags
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Return the database's unused space to the disk",
		Long: "Rewrite the database without its free pages. The node must be stopped; the disk needs room for both files. At its\n" +
			"start a node does this by itself if the file is above 256 MiB and more than half free.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := f.dataDir(cmd)
			if err != nil {
				return err
			}
			m := cli.NewMeter(cmd)
			r, err := edge.Compact(cmd.Context(), dir, shown(m))
			if err := m.End(err); err != nil {
				return err
			}
			return f.print(cmd, r, fmt.Sprintf("%s: %s before, %s now, in %.1f s\n",
				r.Path, cli.Megabytes(r.Before), cli.Megabytes(r.After), r.TookSeconds))
		},
	}
	f.add(cmd)
	return cmd
}
