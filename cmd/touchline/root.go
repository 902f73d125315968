package main

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/cli"
)

// newRoot creates the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "touchline",
		Short:         "Edge node for live sports",
		Long:          "Touchline serves live sports at the ground: it polls the feed, derives the events, notifies phones and\nweb pages, and keeps its own database, with or without the internet.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       buildInfo().String(),
		Args:          cli.Usage(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.UnknownFlag(cmd, err)
	})
	root.SetVersionTemplate("{{.Version}}\n")
	shell := &app.Shell{Version: buildInfo().Version, DefaultFile: defaultFile, DataDir: edge.DefaultConfig().DataDir, Load: loadFor}
	of := edge.Commands(shell)
	root.AddCommand(newServe(), newDynamoDB(), newBackup(), newRestore(), newCheck(), newCompact(), newMigrate(of.Migrate), newSync(),
		newConflicts(), newConfig(), newToken(), newTLS(), newVersion())
	root.AddCommand(of.Root...)
	return root
}
