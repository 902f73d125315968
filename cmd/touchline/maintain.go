package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchline/touchline/edge"
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
	outputFlag(cmd, &f.output)
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
	if f.output == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// meter shows progress on one line of a terminal, and nothing elsewhere.
type meter struct {
	w     io.Writer // nil: not a terminal
	shown string
}

func newMeter(cmd *cobra.Command) *meter {
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &meter{w: f}
	}
	return &meter{}
}

func (m *meter) show(p edge.Progress) {
	if m.w == nil {
		return
	}
	text := p.What
	if p.Total > 0 {
		text = fmt.Sprintf("%s %3d %% of %s", p.What, p.Done*100/p.Total, megabytes(p.Total))
	}
	if text != m.shown {
		m.shown = text
		fmt.Fprintf(m.w, "\r%s\x1b[K", text) //nolint:errcheck // a terminal that is gone shows nothing
	}
}

// end takes the line away and says an interrupt in words.
func (m *meter) end(err error) error {
	if m.shown != "" {
		fmt.Fprint(m.w, "\r\x1b[K") //nolint:errcheck // as above
	}
	if errors.Is(err, context.Canceled) {
		return fault.Wrap(err, fault.Unavailable, "interrupted", "interrupted: nothing was written")
	}
	return err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
