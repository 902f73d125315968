package measure

import (
	"context"
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

// childArgument is the first argument of a program where it runs as a part of itself.
const childArgument = "child"

// Main runs a program: start as a person calls it, child as Self does. It ends the process where that fails.
func Main(
	name string, start func(ctx context.Context, args []string, out, progress io.Writer) error, child func(ctx context.Context) error,
) {
	// A second signal ends the program at once; the first one lets it clean up.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	var err error
	if args := os.Args[1:]; len(args) > 0 && args[0] == childArgument && child != nil {
		err = child(ctx)
	} else {
		err = start(ctx, args, os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Self is this program as a part of itself.
func Self(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, childArgument), nil
}

// Run is one run of a program: its command line, its folder, and the rows that it has measured.
type Run struct {
	Table
	Machine Machine
	Folder  string // everything that is written lies here
	Quick   bool

	name     string
	json     bool
	progress io.Writer
}

// Begin reads a command line and creates the folder of a run. own adds flags of the program's own.
func Begin(name string, targets []Target, args []string, progress io.Writer, own func(*flag.FlagSet)) (*Run, error) {
	r := &Run{Table: Table{Targets: targets}, name: name, progress: progress}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(progress)
	own(flags)
	dir := flags.String("dir", "", "`folder` on the disk to measure (default the folder for temporary files, or bin/ if that is in memory)")
	var err error
	if targets != nil {
		err = r.parseTable(flags, args)
	} else if err = flags.Parse(args); err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if err != nil {
		return nil, err
	}
	r.Folder, r.Machine, err = makeFolder(*dir)
	return r, err
}

// parseTable reads what chooses the rows of a table and how they are printed.
func (r *Run) parseTable(flags *flag.FlagSet, args []string) error {
	flags.BoolVar(&r.Quick, "quick", false, "small sizes and few rounds: shows that everything works, says little about speed")
	rows := flags.String("rows", "", "`regexp` of the rows to measure, by their ids in the first column; empty: all")
	format := flags.String("o", "text", "`format` of the tables: text or json")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if r.json = *format == "json"; !r.json && *format != "text" {
		return fmt.Errorf("-o: there is no format %q", *format)
	}
	var err error
	if r.Select, err = regexp.Compile(*rows); err != nil {
		return fmt.Errorf("-rows: %w", err)
	}
	return nil
}

// Say reports how far the run is.
func (r *Run) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.progress, r.name+": "+format+"\n", args...)
}

// End removes what the run has written.
func (r *Run) End() { Remove(r.Folder) }

// Report is what has been measured.
func (r *Run) Report() Report { return Report{Machine: r.Machine, Quick: r.Quick, Rows: r.Rows()} }

// Print writes a report, or what contains one: as JSON if that was asked for, else by text.
func (r *Run) Print(w io.Writer, report any, text func(io.Writer) error) error {
	if !r.json {
		return text(w)
	}
	return writeJSON(w, report)
}
