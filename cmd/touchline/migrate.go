package main

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/cli"
)

func newMigrate(of []*cobra.Command) *cobra.Command {
	var m cloudMigration
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create the cloud's tables, or carry over data of other versions",
		Long: "With --cloud: create the tables missing in the configured cloud, check the existing ones, and list every difference\n" +
			"from what this version needs. Nothing existing is changed or dropped; --yes adds missing indexes, expiries and\n" +
			"streams. After an interrupt, run it again to continue. The exit code is 1 if anything remains that keeps a node\n" +
			"from working properly.",
		Example: "  touchline migrate --cloud --dry-run\n  touchline migrate --cloud --yes",
		Args:    cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.refuseMisuse(cmd); err != nil {
				return err
			}
			if !m.cloud {
				return cmd.Help()
			}
			return m.run(cmd)
		},
	}
	m.add(cmd)
	cmd.AddCommand(of...)
	return cmd
}
