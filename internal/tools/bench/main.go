package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"runtime/pprof"

	"github.com/touchline/touchline/internal/tools/measure"
)

func main() { measure.Main("bench", start, child) }

// start runs the groups with a selected row and prints the table.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	var profile string
	run, err := measure.Begin("bench", targets, args, progress, func(flags *flag.FlagSet) {
		flags.StringVar(&profile, "cpuprofile", "", "`file` for a CPU profile of the whole run")
	})
	if err != nil {
		return err
	}
	defer run.End()
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer measure.Shut(f)
		defer pprof.StopCPUProfile()
	}
	b := &bench{Run: run, size: fullSizes()}
	if run.Quick {
		b.size = quickSizes()
	}
	err = b.measure(ctx)
	report := run.Report()
	return errors.Join(err, run.Print(out, report, report.WriteText))
}
