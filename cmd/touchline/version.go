package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/cli"
)

// build describes this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Go      string `json:"go"`
	Tags    string `json:"tags"`
}

func buildInfo() build {
	b := build{Version: "devel", Commit: "unknown", Date: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "-tags":
			b.Tags = s.Value
		}
	}
	return b
}

// String formats the build in one line for people.
func (b build) String() string {
	return fmt.Sprintf("touchline %s (commit %s, %s, %s)", b.Version, b.Commit, b.Date, b.Go)
}

func newVersion() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version of this binary",
		Args:  cli.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := buildInfo()
			return cli.Print(cmd, output, b, b.String()+"\n")
		},
	}
	cli.OutputFlag(cmd, &output)
	return cmd
}
