package node

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// NewLogger creates the node's logger: JSON for machines, coloured text for people.
func NewLogger(c LogConfig, w io.Writer) (*slog.Logger, error) {
	log, _, err := NewLeveledLogger(c, w)
	return log, err
}

// NewLeveledLogger creates a logger whose level can be changed.
func NewLeveledLogger(c LogConfig, w io.Writer) (*slog.Logger, *slog.LevelVar, error) {
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, nil, err
	}
	tty := false
	if f, ok := w.(*os.File); ok {
		tty = term.IsTerminal(int(f.Fd()))
	}
	if c.Format == "json" || c.Format == "auto" && !tty {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), level, nil
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !tty || os.Getenv("NO_COLOR") != "",
	})), level, nil
}

// LogConfig is how the node logs, always to standard error.
type LogConfig struct {
	Format string `yaml:"format"` // auto, text or json
	Level  string `yaml:"level"`  // debug, info, warn or error
}
