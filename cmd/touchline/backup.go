package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
)

func newBackup() *cobra.Command {
	var f maintainFlags
	cmd := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Write a backup of the database to a new file",
		Long: "Write a backup of the database to a new file, by default backups/touchline-TIME.db in the data\n" +
			"directory, with its checksum beside it. A running node writes the file itself and keeps serving.",
		Args: cli.Usage(cli.Named(cobra.MaximumNArgs(1))),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := f.dataDir(cmd)
			if err != nil {
				return err
			}
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			m := cli.NewMeter(cmd)
			r, err := edge.Backup(cmd.Context(), dir, target, shown(m))
			if err := m.End(err); err != nil {
				return err
			}
			return f.print(cmd, r, fmt.Sprintf("%s: %s, %d tables, journal up to %d, in %.1f s\nrestore it with: touchline restore %s --data-dir DIR\n",
				r.Path, cli.Megabytes(r.Bytes), r.Tables, r.Seq, r.TookSeconds, r.Path))
		},
	}
	f.add(cmd)
	return cmd
}
