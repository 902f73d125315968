package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

func newCheck() *cobra.Command {
	var f maintainFlags
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Verify the database or a backup; exit 1 if anything is wrong",
		Long: "Verify the database or a backup: pages, items, indexes and journal. Nothing is changed. A running node\n" +
			"keeps serving; it checks a copy, which needs disk space.",
		Args: cli.Usage(cli.Named(cobra.MaximumNArgs(1))),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := f.dataDir(cmd)
			if err != nil {
				return err
			}
			what, file := "the database in "+dir, ""
			if len(args) > 0 {
				what, file = args[0], args[0]
			}
			m := cli.NewMeter(cmd)
			r, err := edge.Check(cmd.Context(), dir, file, shown(m))
			if err := m.End(err); err != nil {
				return err
			}
			var text strings.Builder
			for _, p := range r.Problems {
				fmt.Fprintf(&text, "%s: %s\n", p.Where, p.What)
			}
			if len(r.Problems) == 0 {
				text.WriteString("nothing is wrong with " + what + "\n")
			}
			if err := f.print(cmd, r, text.String()); err != nil {
				return err
			}
			if n := len(r.Problems); n > 0 {
				return fault.New(fault.Damaged, "store_damaged", "%s in %s", counted(n, "problem"), what)
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}
