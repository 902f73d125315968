package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"

	"github.com/touchline/touchline/internal/tools/measure"
)

// settings is what the command line says.
type settings struct {
	measure.Flags
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
	folder, machine, err := measure.MakeFolder(set.Dir)
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
		Table: measure.Table{Targets: targets, Select: set.Rows},
		set:   set, dir: folder, progress: progress, size: fullSizes(),
	}
	if set.Quick {
		b.size = quickSizes()
	}
	measureErr := b.measure(ctx)
	report := measure.Report{Machine: machine, Quick: set.Quick, Rows: b.Rows()}
	if set.JSON {
		return errors.Join(measureErr, measure.WriteJSON(out, report))
	}
	return errors.Join(measureErr, report.WriteText(out))
}

func parse(args []string, progress io.Writer) (set settings, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&set.profile, "cpuprofile", "", "`file` for a CPU profile of the whole run")
	set.Flags, err = measure.ParseFlags(flags, args)
	return set, err
}
