package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// Limits of the three rows of each input.
const (
	mostFailed = 0
	mostDelay  = 100 // ms above the baseline
	mostMemory = 256 // MB
)

func main() { measure.Main("hold", start, nil) }

// start plays the selected inputs, one after the other, and prints the table. If one fails, it also prints what was measured before.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	var binary string
	run, err := measure.Begin("hold", targets(), args, progress, func(flags *flag.FlagSet) {
		flags.StringVar(&binary, "binary", "bin/touchline", "`file` of the program that is measured")
	})
	if err != nil {
		return err
	}
	defer run.End()
	for _, in := range inputs {
		if ctx.Err() == nil && run.WantsGroup(in.name) {
			err = errors.Join(err, play(ctx, run, binary, in))
		}
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return errors.Join(err, run.Print(out, run.Report()))
}

// targets returns the rows of all inputs.
func targets() (all []measure.Target) {
	for _, in := range inputs {
		all = append(all,
			measure.AtMost(in.name+"/failed", in.what+": failed probes", "", mostFailed),
			measure.AtMost(in.name+"/p99", in.what+": p99 above the baseline", "", mostDelay),
			measure.AtMost(in.name+"/memory", in.what+": memory", "", mostMemory))
	}
	return all
}

// play measures one input.
func play(ctx context.Context, run *measure.Run, binary string, in input) error {
	n, err := startNode(ctx, run.Folder, binary, in.files)
	if err != nil {
		return err
	}
	defer n.Kill()
	if in.prepare != nil {
		run.Say("%s: preparing", in.name)
		if err := in.prepare(ctx, n); err != nil {
			return err
		}
	}
	rest, load := 5*time.Second, 30*time.Second
	if run.Quick {
		rest, load = time.Second, 3*time.Second
	}
	probed := in.probe(n)
	base := probe(ctx, rest, probed)
	attacked, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- in.attack(attacked, n, run.Quick) }()
	under := probe(ctx, load, probed)
	stop()
	err = <-ended
	run.Say("%s: at rest %s; under the input %s", in.name, base, under)
	run.Alone(in.name+"/failed", measure.Exactly(float64(under.failed), "of "+measure.Number(float64(under.made))))
	run.Alone(in.name+"/p99", measure.Exactly(under.quantile(0.99)-base.quantile(0.99), "ms"))
	run.AloneMB(in.name+"/memory", measure.MemoryOf(n.PID()).Peak)
	return err
}
