package edge

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/hacktracker/hacktrackerapp"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/pickem/pickemapp"
	"github.com/touchline/touchline/edge/scorekeeper/scorekeeperapp"
	"github.com/touchline/touchline/edge/threefc/threefcapp"
	"github.com/touchline/touchline/internal/cli"
)

// applications returns every application that a node can run, with default settings. It is the only place that names them.
func applications() []*app.App {
	return []*app.App{
		cricketapp.New(),
		scorekeeperapp.New(),
		pickemapp.New(),
		hacktrackerapp.New(),
		threefcapp.New(),
	}
}

// Commands returns the commands that the applications add to the command line, and the demo command.
func Commands(sh *app.Shell) app.Commands {
	var all app.Commands
	var demos []*app.Demo
	for _, a := range applications() {
		if a.Commands == nil {
			continue
		}
		of := a.Commands(sh)
		all.Root, all.Migrate = append(all.Root, of.Root...), append(all.Migrate, of.Migrate...)
		if len(of.Own) > 0 {
			all.Root = append(all.Root, cli.Group(&cobra.Command{Use: a.Name, Short: "Tools for " + a.Title}, of.Own...))
		}
		if of.Demo != nil {
			demos = append(demos, of.Demo)
		}
	}
	all.Root = append(all.Root, demoCommand(sh.Version, demos))
	return all
}

// demoCommand returns `touchline demo`, which runs all demos on one node, with a subcommand for each.
func demoCommand(version string, demos []*app.Demo) *cobra.Command {
	all := node.DemoCommand("demo", version, demos...)
	all.Short = "Play a live match and use every application, on this machine alone"
	all.Long = "Run all applications on one node on this machine, each with invented data: a recorded match played today at ten times real speed,\n" +
		"with simulated phones; games that are being scored; a puzzle and a league to play in. No cloud, no account, and nothing is kept."
	for _, d := range demos {
		if d.Alone == nil {
			d.Alone = node.DemoCommand(d.App.Name, version, d)
		}
		d.Alone.SuggestFor = []string{d.App.Title, strings.Trim(d.App.Settings.Path(), "/")} // 3fc: threefc
		all.AddCommand(d.Alone)
	}
	return all
}

// Flags returns the flags that the applications add to `touchline serve`, by name, each with its full key.
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
