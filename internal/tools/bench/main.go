package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/touchline/touchline/internal/tools/measure"
)

func main() { measure.Main("bench", start, child) }

// start runs the groups with a selected row and prints the table.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	run, err := measure.Begin("bench", targets, args, progress, func(*flag.FlagSet) {})
	if err != nil {
		return err
	}
	defer run.End()
	b := &bench{Run: run, size: fullSizes()}
	if run.Quick {
		b.size = quickSizes()
	}
	err = b.measure(ctx)
	return errors.Join(err, run.Print(out, run.Report()))
}
