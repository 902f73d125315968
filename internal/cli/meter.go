package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchline/touchline/internal/fault"
)

// Meter shows progress on one line of a terminal. If the output is not a terminal, it shows nothing.
type Meter struct {
	w     io.Writer // nil: not a terminal
	shown string
}

// NewMeter returns the meter of a command.
func NewMeter(cmd *cobra.Command) *Meter {
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &Meter{w: f}
	}
	return &Meter{}
}

// ShowProgress shows the progress of a task. total is in bytes, 0 if unknown.
func (m *Meter) ShowProgress(what string, done, total int64) {
	if m.w == nil {
		return
	}
	text := what
	if total > 0 {
		text = fmt.Sprintf("%s %3d %% of %s", what, done*100/total, Megabytes(total))
	}
	if text != m.shown {
		m.shown = text
		fmt.Fprintf(m.w, "\r%s\x1b[K", text) //nolint:errcheck // a terminal that is gone shows nothing
	}
}

// End removes the line, and turns an interrupt into a readable error.
func (m *Meter) End(err error) error {
	if m.shown != "" {
		fmt.Fprint(m.w, "\r\x1b[K") //nolint:errcheck // as above
		m.shown = ""
	}
	if errors.Is(err, context.Canceled) {
		return fault.Wrap(err, fault.Unavailable, "interrupted", "interrupted: nothing was written")
	}
	return err
}

// Megabytes formats a size.
func Megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
