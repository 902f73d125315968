package edge

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/hacktracker/hacktrackerapp"
	"github.com/touchline/touchline/edge/pickem/pickemapp"
	"github.com/touchline/touchline/edge/scorekeeper/scorekeeperapp"
	"github.com/touchline/touchline/edge/threefc/threefcapp"
	"github.com/touchline/touchline/internal/cli"
)

// applications are all that a node can run, each with its default settings: one line each, and the only place that names
// them.
func applications() []*app.App {
	return []*app.App{
		cricketapp.New(),
		scorekeeperapp.New(),
		pickemapp.New(),
		hacktrackerapp.New(),
		threefcapp.New(),
	}
}

// Commands are what the applications add to the command line. With several demos, each but the first goes by its name.
func Commands(sh *app.Shell) app.Commands {
	var all app.Commands
	for _, a := range applications() {
		if a.Commands == nil {
			continue
		}
		of := a.Commands(sh)
		all.Root, all.Migrate = append(all.Root, of.Root...), append(all.Migrate, of.Migrate...)
		if len(of.Own) > 0 {
			cmd := &cobra.Command{
				Use: a.Name, Short: "Tools for " + a.Title, Args: cli.Usage(cobra.NoArgs),
				RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
			}
			cmd.AddCommand(of.Own...)
			all.Root = append(all.Root, cmd)
		}
		switch {
		case of.Demo == nil:
		case all.Demo == nil:
			all.Demo = of.Demo
		default:
			of.Demo.Use = a.Name
			all.Demo.AddCommand(of.Demo)
		}
	}
	if all.Demo != nil {
		all.Root = append(all.Root, all.Demo)
	}
	return all
}

// Flags are the switches that the applications add to `touchline serve`, by name, each with its key.
func Flags() map[string]app.Flag {
	all := map[string]app.Flag{}
	for _, a := range applications() {
		for _, f := range a.Flags {
			f.Key = a.Name + "." + f.Key
			all[f.Name] = f
		}
	}
	return all
}
