package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
)

func newRestore() *cobra.Command {
	var f maintainFlags
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Restore the database from a backup",
		Long: "Restore the database in the data directory from a backup. Nothing is overwritten: stop the node and move the current\n" +
			"database away first. The whole backup is verified before the database appears.",
		Args: cli.Usage(cli.Named(cobra.ExactArgs(1))),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := f.dataDir(cmd)
			if err != nil {
				return err
			}
			m := cli.NewMeter(cmd)
			r, err := edge.Restore(cmd.Context(), dir, args[0], unchecked, shown(m))
			if err := m.End(err); err != nil {
				return err
			}
			return f.print(cmd, r, fmt.Sprintf("%s: %s, %d tables of node %s, restored as incarnation %d\n",
				r.Path, cli.Megabytes(r.Bytes), r.Tables, r.Node, r.Incarnation))
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&unchecked, "unchecked", false, "restore a backup whose checksum file is missing")
	return cmd
}
