package main

import "github.com/spf13/cobra"

func newCricket() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cricket", Short: "Tools for cricket: replay matches", Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCricketReplay())
	return cmd
}
