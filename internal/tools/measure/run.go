package measure

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
)

// childArgument is the first argument of a process that runs a part of the program.
const childArgument = "child"

// Main runs a program: start when a user calls it, child when Self does. If that fails, it exits the process.
func Main(
	name string, start func(ctx context.Context, args []string, out, progress io.Writer) error, child func(ctx context.Context, args []string) error,
) {
	// The first signal lets the program clean up; the second one ends it at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	var err error
	if args := os.Args[1:]; len(args) > 0 && args[0] == childArgument && child != nil {
		err = child(ctx, args[1:])
	} else {
		err = start(ctx, args, os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Self returns the command that runs a part of this program, with arguments for it.
func Self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, append([]string{childArgument}, args...)...), nil
}

// Run is one run of a program: its command line, its folder, and the rows measured so far.
type Run struct {
	Table
	Machine Machine
	Folder  string // all files are written here
	Quick   bool

	name     string
	json     bool
	progress io.Writer
}

// Begin parses a command line and creates the folder of a run. own adds flags of the program. A program with targets has the flags of a table
// too.
func Begin(name string, targets []Target, args []string, progress io.Writer, own func(*flag.FlagSet)) (*Run, error) {
	r := &Run{Table: Table{Targets: targets}, name: name, progress: progress}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(progress)
	own(flags)
	dir := flags.String("dir", "", "`folder` on the disk to measure (default the folder for temporary files, or bin/ if that is in memory)")
	rows, format := "", "text"
	if targets != nil {
		flags.BoolVar(&r.Quick, "quick", false, "small sizes and few rounds: shows that everything works, says little about speed")
		flags.StringVar(&rows, "rows", rows, "`regexp` of the rows to measure, by their ids in the first column; empty: all")
		flags.StringVar(&format, "o", format, "`format` of the tables: text or json")
	}
	err := flags.Parse(args)
	switch {
	case err != nil:
		return nil, err
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case format != "text" && format != "json":
		return nil, fmt.Errorf("-o: there is no format %q", format)
	}
	r.json = format == "json"
	if r.Select, err = regexp.Compile(rows); err != nil {
		return nil, fmt.Errorf("-rows: %w", err)
	}
	r.Folder, r.Machine, err = makeFolder(*dir)
	return r, err
}

// Say reports progress.
func (r *Run) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.progress, r.name+": "+format+"\n", args...)
}

// End removes the files of the run.
func (r *Run) End() { Remove(r.Folder) }

// Report returns the measurements.
func (r *Run) Report() Report { return Report{Machine: r.Machine, Quick: r.Quick, Rows: r.Rows()} }

// Print writes a report as JSON if requested, otherwise as text.
func (r *Run) Print(w io.Writer, report interface{ WriteText(w io.Writer) error }) error {
	if !r.json {
		return report.WriteText(w)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(report)
}
