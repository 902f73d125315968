package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"syscall"

	"github.com/touchline/touchline/internal/tools/measure"
)

// settings is what the command line says.
type settings struct {
	quick   bool
	rows    *regexp.Regexp
	json    bool
	dir     string
	profile string
}

func main() {
	// A second signal ends the program at once; the first one lets it clean up.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	var err error
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		err = child(ctx, os.Args[2:])
	} else {
		err = start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// start runs the groups that have a selected row and prints the table.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	set, err := parse(args, progress)
	if err != nil {
		return err
	}
	folder, machine, err := measure.MakeFolder(set.dir)
	if err != nil {
		return err
	}
	defer measure.Remove(folder)
	if set.profile != "" {
		f, err := os.Create(set.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer measure.Shut(f)
		defer pprof.StopCPUProfile()
	}
	b := &bench{
		Table: measure.Table{Targets: targets, Select: set.rows},
		set:   set, dir: folder, progress: progress, size: fullSizes(),
	}
	if set.quick {
		b.size = quickSizes()
	}
	measureErr := b.measure(ctx)
	report := measure.Report{Machine: machine, Quick: set.quick, Rows: b.Rows()}
	if set.json {
		return errors.Join(measureErr, measure.WriteJSON(out, report))
	}
	return errors.Join(measureErr, report.WriteText(out))
}

func parse(args []string, progress io.Writer) (settings, error) {
	set := settings{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.BoolVar(&set.quick, "quick", false, "small sizes and few rounds: shows that everything works, says little about speed")
	rows := flags.String("rows", "", "`regexp` of the rows to measure, by their ids in the first column; empty: all")
	format := flags.String("o", "text", "`format` of the table: text or json")
	flags.StringVar(&set.dir, "dir", "", "`folder` on the disk to measure (default the folder for temporary files, or bin/ if that is in memory)")
	flags.StringVar(&set.profile, "cpuprofile", "", "`file` for a CPU profile of the whole run")
	if err := flags.Parse(args); err != nil {
		return set, err
	}
	if flags.NArg() > 0 {
		return set, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if *format != "text" && *format != "json" {
		return set, fmt.Errorf("-o: there is no format %q", *format)
	}
	set.json = *format == "json"
	var err error
	if set.rows, err = regexp.Compile(*rows); err != nil {
		return set, fmt.Errorf("-rows: %w", err)
	}
	return set, nil
}
