package main

import (
	"context"

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
	configFlag(cmd, &f.config)
	cmd.Flags().String("data-dir", edge.DefaultConfig().DataDir, "directory of the node's database")
	cli.OutputFlag(cmd, &f.output)
}

// configFlag adds the flag that names the configuration file.
func configFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "config", "", "configuration file (default "+defaultFile+" if it exists)")
}

// dataDir is where the configuration has the database.
func (f *maintainFlags) dataDir(cmd *cobra.Command) (string, error) {
	c, err := f.load(cmd)
	if err != nil {
		return "", err
	}
	return c.DataDir, nil
}

// load reads the configuration, which must name a data directory.
func (f *maintainFlags) load(cmd *cobra.Command) (*loaded, error) {
	c, err := load(f.config, cmd.Flags())
	if err == nil && c.DataDir == "" {
		err = fault.New(fault.Invalid, "bad_config", "data_dir must name a directory")
	}
	return c, err
}

// print shows a result as JSON or as the text that a person reads.
func (f *maintainFlags) print(cmd *cobra.Command, result any, text string) error {
	return cli.Print(cmd, f.output, result, text)
}

// maintenance is what a command does with the database in a directory: the result, and the text of it that a person reads. An error
// that comes with a result is what is wrong with the database: the result is shown first.
type maintenance func(ctx context.Context, dir string, args []string, progress func(edge.Progress)) (result any, text string, err error)

// maintaining completes a command that looks after the database, and shows how far it has come.
func maintaining(cmd *cobra.Command, do maintenance) *cobra.Command {
	var f maintainFlags
	f.add(cmd)
	cmd.Args = cli.Usage(cmd.Args)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := f.dataDir(cmd)
		if err != nil {
			return err
		}
		m := cli.NewMeter(cmd)
		result, text, err := do(cmd.Context(), dir, args, func(p edge.Progress) { m.Show(p.What, p.Done, p.Total) })
		err = m.End(err)
		if result == nil {
			return err
		}
		if failed := f.print(cmd, result, text); failed != nil {
			return failed
		}
		return err
	}
	return cmd
}
