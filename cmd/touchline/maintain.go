package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/cli"
	"github.com/touchline/touchline/internal/fault"
)

// maintainFlags are the flags of commands that maintain the database.
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

// dataDir returns the configured data directory.
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

// print shows a result as JSON, or as text for people.
func (f *maintainFlags) print(cmd *cobra.Command, result any, text string) error {
	return cli.Print(cmd, f.output, result, text)
}

// maintenance is a command's operation on the database in dir. It returns the result, and a text of it for people. If both a result and
// an error are returned, the error says what is wrong with the database, and the result is shown first.
type maintenance func(ctx context.Context, dir string, args []string, progress func(edge.Progress)) (result any, text string, err error)

// maintaining completes a maintenance command, with a progress display.
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
		result, text, err := do(cmd.Context(), dir, args, func(p edge.Progress) { m.ShowProgress(p.What, p.Done, p.Total) })
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
