package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// options are what the command line sets.
type options struct {
	lines    string
	duration time.Duration
	rate     int
	seed     uint64
}

func main() { measure.Main("benchline", run, nil) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var o options
	run, err := measure.Begin("benchline", nil, args, progress, func(flags *flag.FlagSet) {
		flags.StringVar(&o.lines, "lines", "", "names, separated by commas (default: all)")
		flags.DurationVar(&o.duration, "for", time.Minute, "how long writes are made")
		flags.IntVar(&o.rate, "rate", 10, "writes a second")
		flags.Uint64Var(&o.seed, "seed", 1, "of the faults")
	})
	if err != nil {
		return err
	}
	defer run.End()
	lines := slices.DeleteFunc(allLines(), func(l line) bool { return o.lines != "" && !slices.Contains(strings.Split(o.lines, ","), l.name) })
	if len(lines) == 0 || o.rate < 1 || o.duration < time.Second {
		return errors.New("there is nothing to measure")
	}
	if err := setKeys(); err != nil {
		return err
	}
	results := make([]result, len(lines))
	failed := make([]error, len(lines))
	var group sync.WaitGroup
	for i, l := range lines {
		group.Go(func() { results[i], failed[i] = measureLine(ctx, run.Folder, l, o) })
	}
	group.Wait()
	_, _ = fmt.Fprintf(out, "%s\n%d writes a second for %v\n\n", run.Machine, o.rate, o.duration)
	return errors.Join(errors.Join(failed...), report(out, lines, results))
}

// setKeys gives the SDK credentials, and keeps it from the user's own.
func setKeys() error {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

func report(out io.Writer, lines []line, results []result) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "line\twrites\toffline\tdisconnects\twaiting\tlag\tarrived after\trequests\tfaults met\tlimit\t")
	for i, l := range lines {
		r := &results[i]
		limit := "-"
		if l.most > 0 {
			limit = fmt.Sprintf("lag at most %v: ", l.most)
			if r.lag <= l.most && r.writes > 0 {
				limit += "met"
			} else {
				limit += "MISSED"
			}
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.0f %%\t%d\t%d\t%.1f s\t%.1f s\t%d\t%d\t%s\t\n",
			l.name, r.writes, 100*r.offline, r.drops, r.waiting, r.lag.Seconds(), r.arrived.Seconds(), r.requests, r.met, limit)
	}
	return w.Flush()
}
