package main

import (
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

// maintainFlags are the flags of the commands that look after the database.
type maintainFlags struct {
	config string
	output string
}

func (f *maintainFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "configuration file (default "+defaultFile+" if it exists)")
	cmd.Flags().String("data-dir", edge.DefaultConfig().DataDir, "directory of the node's database")
	cli.OutputFlag(cmd, &f.output)
}

// dataDir is where the configuration has the database.
func (f *maintainFlags) dataDir(cmd *cobra.Command) (string, error) {
	c, err := load(f.config, cmd.Flags())
	if err != nil {
		return "", err
	}
	if c.DataDir == "" {
		return "", fault.New(fault.Invalid, "bad_config", "data_dir must name a directory")
	}
	return c.DataDir, nil
}

// print shows a result as JSON or as the text that a person reads.
func (f *maintainFlags) print(cmd *cobra.Command, result any, text string) error {
	return cli.Print(cmd, f.output, result, text)
}

// shown has a meter show the progress of a command.
func shown(m *cli.Meter) func(edge.Progress) {
	return func(p edge.Progress) { m.Show(p.What, p.Done, p.Total) }
}
