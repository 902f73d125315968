package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/tools/measure"
)

// mix is the distribution of the writes, in percent; the rest are deletes.
type mix struct {
	name             string
	updates, creates int
	together         bool // two updates in one transaction, each counted as a write
	follows          bool // of one match: items of one partition, in a distant cloud
}

// lanes is the number of requests in flight at once.
const lanes = 16

// For a distant cloud: the additional time of each request, and the number of writes measured.
const (
	farAway = 80 * time.Millisecond
	onAWay  = 2000
)

func allMixes() []mix {
	return []mix{
		{name: "usual", updates: 70, creates: 20},
		{name: "updates", updates: 100},
		{name: "creates", creates: 100},
		{name: "deletes"},
		{name: "transactions", updates: 100, together: true},
		{name: "follows", creates: 100, follows: true},
	}
}

func main() { measure.Main("benchsync", run, nil) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var writes int
	var names string
	run, err := measure.Begin("benchsync", nil, args, progress, func(flags *flag.FlagSet) {
		flags.IntVar(&writes, "writes", 200_000, "queued writes of the first mix; the others have a tenth")
		flags.StringVar(&names, "mixes", "", "names, separated by commas (default: all)")
	})
	if err != nil {
		return err
	}
	defer run.End()
	mixes := slices.DeleteFunc(allMixes(), func(m mix) bool { return names != "" && !slices.Contains(strings.Split(names, ","), m.name) })
	if len(mixes) == 0 || writes < 10 {
		return errors.New("there is nothing to measure")
	}
	server, err := ddblocal.StartInMemory(ctx)
	if err != nil {
		return err
	}
	defer server.Kill()
	b, err := newBench(ctx, run, server)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s\nDynamoDB Local in memory, %d at once, items of 500 bytes\n\n", run.Machine, lanes)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "mix\twrites\tdrained/s\tbare SDK/s\tof it\tunits sent\tunits of the calls alone\tratio\titems as written\t")
	for i, m := range mixes {
		n := writes
		if i > 0 {
			n /= 10
		}
		b.latency = 0
		if m.follows {
			n, b.latency = min(n, onAWay), farAway
		}
		r, err := b.measure(ctx, m, n, i%2 == 0)
		if err != nil {
			return errors.Join(err, w.Flush())
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.0f %%\t%.0f\t%.0f\t%.3f\t%d\t\n",
			m.name, n, r.drain, r.bare, 100*r.drain/r.bare, r.units, r.own, r.units/r.own, r.items)
	}
	return w.Flush()
}
