package cricketapp

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/cli"
)

// demoMemory is the memory limit of the demo: it runs on small machines.
const demoMemory = 32 << 20

// demoFlags holds the flags of the demo.
type demoFlags struct {
	DemoConfig
	speed  string
	list   bool
	output string
}

func newDemoAlone(version string) *cobra.Command {
	f := demoFlags{DemoConfig: DemoConfig{Version: version}}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Replay a recorded match through the whole node",
		Long: "Replay a recorded real match through the whole node: a feed, the poller, the store, pushes to simulated phones,\n" +
			"and a page that shows it all. No cloud, no account. An unfinished match resumes where it was left.",
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Match, "match", DefaultMatch, "the match to replay; --list shows all")
	flags.StringVar(&f.speed, "speed", "30", "how many times faster than real time, or max (every real-time poll, without the waits)")
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:8080", "address of the page; loopback only")
	flags.StringVar(&f.DataDir, "data-dir", "", "directory of the demo's databases (default $XDG_DATA_HOME/touchline/demo)")
	flags.BoolVar(&f.Once, "once", false, "exit after the match and print a summary")
	flags.BoolVar(&f.Quiet, "quiet", false, "do not log to standard error")
	flags.BoolVar(&f.list, "list", false, "list the recorded matches and exit")
	cli.OutputFlag(cmd, &f.output)
	err := cmd.RegisterFlagCompletionFunc("match", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		for _, m := range Matches() {
			ids = append(ids, m.ID+"\t"+m.Title)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
	cobra.CheckErr(err)
	return cmd
}

func (f *demoFlags) run(cmd *cobra.Command) error {
	if f.list {
		return listMatches(cmd, f.output)
	}
	if f.output == "json" && !f.Once {
		return cli.Misuse(cmd, fmt.Errorf("-o json needs --once or --list"))
	}
	speed, err := parseSpeed(f.speed)
	if err != nil {
		return cli.Misuse(cmd, err)
	}
	f.Speed = speed
	if f.DataDir == "" {
		if f.DataDir, err = demoDir(); err != nil {
			return err
		}
	}
	f.Out, f.Program = cmd.ErrOrStderr(), os.Args[0]
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(demoMemory)
	}
	summary, err := Demo(cmd.Context(), f.DemoConfig)
	if err != nil || summary == nil {
		return err
	}
	if f.output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(summary)
	}
	return summary.Print(cmd.OutOrStdout())
}

// parseSpeed parses a factor; 0 stands for max.
func parseSpeed(text string) (float64, error) {
	if text == "max" {
		return 0, nil
	}
	speed, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(speed) || speed < 0.1 || speed > 3600 {
		return 0, fmt.Errorf("--speed must be a number from 0.1 to 3600, or max, not %q", text)
	}
	return speed, nil
}

// demoDir returns the default data directory of the demo.
func demoDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "touchline", "demo"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory: set the demo's directory with --data-dir")
	}
	return filepath.Join(home, ".local", "share", "touchline", "demo"), nil
}

func listMatches(cmd *cobra.Command, output string) error {
	matches := Matches()
	if output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(matches)
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, m := range matches {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", m.ID, m.Date, m.Type, m.Title, m.Result) //nolint:errcheck // Flush tells
	}
	return tw.Flush()
}
