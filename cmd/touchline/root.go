package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// newRoot makes the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "touchline",
		Short:         "Edge node for live sports",
		Long:          "Touchline serves live sports at the ground: it polls the feed, works out what happened, tells phones and pages,\nand keeps its own database, with or without the internet.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{hint(cmd, err)}
	})
	root.AddCommand(newServe(), newDynamoDB(), newDemo(), newCricket(), newAPNsSandbox(), newPush(), newBackup(), newRestore(), newCheck(), newCompact(), newMigrate(), newConfig(), newToken(), newVersion())
	return root
}

// usage marks the errors of an argument check as usage errors.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{hint(cmd, err)}
		}
		return nil
	}
}

// named refuses an empty name, as an unset variable of a shell makes it: it would stand for the default.
func named(check cobra.PositionalArgs) cobra.PositionalArgs {
	return cobra.MatchAll(check, func(_ *cobra.Command, args []string) error {
		if slices.Contains(args, "") {
			return errors.New("the name of the file is empty")
		}
		return nil
	})
}

type hinted struct {
	error
	hint string
}

// Error is one line that says where help is.
func (h hinted) Error() string {
	return strings.ReplaceAll(h.error.Error(), "\n", " ") + " (see '" + h.hint + " --help')"
}

func hint(cmd *cobra.Command, err error) error { return hinted{err, cmd.CommandPath()} }
