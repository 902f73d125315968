package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// command runs the command line. It fails if a mutant was not caught.
func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("only", "", "a regular expression of the names of the mutants to plant")
	seeds := flags.Int("seeds", 300, "maximum number of seeds of the simulation; 0: it is not run")
	tags := flags.String("tags", "nomsgpack", "build tags")
	alone := flags.Bool("sim", false, "run only the simulation, for every mutant: what does it notice by itself?")
	timeout := flags.Duration("timeout", 5*time.Minute, "time limit of one run; a mutant that exceeds it is caught")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	mutants, err := chosen(*only, root)
	if err != nil {
		return err
	}
	if *alone {
		for i := range mutants {
			mutants[i].tests, mutants[i].sim = nil, cmp.Or(mutants[i].sim, "yes")
		}
	}
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &runner{builder: builder{root: root, dir: dir, tags: *tags}, timeout: *timeout, seeds: *seeds}
	if err := r.baseline(ctx, mutants); err != nil {
		return err
	}
	var outcomes []outcome
	var errs error
	for i := range mutants {
		o, err := r.try(ctx, &mutants[i])
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // a mutant that does not build must not prevent others from being tried
			errs = errors.Join(errs, fmt.Errorf("%s: %w", mutants[i].name, err))
			continue
		}
		fmt.Println(o.row())
		outcomes = append(outcomes, o)
	}
	return errors.Join(errs, missed(outcomes))
}

// chosen returns the mutants to plant. All mutants must be valid.
func chosen(only, root string) ([]mutant, error) {
	re, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	mutants, err := readMutants()
	if err != nil {
		return nil, err
	}
	for i := range mutants {
		if err := mutants[i].check(root); err != nil {
			return nil, fmt.Errorf("%s: %w", mutants[i].name, err)
		}
	}
	return slices.DeleteFunc(mutants, func(m mutant) bool { return !re.MatchString(m.name) }), nil
}

// missed returns the error for mutants that nothing noticed.
func missed(outcomes []outcome) error {
	var names []string
	for i := range outcomes {
		if !outcomes[i].caught() {
			names = append(names, outcomes[i].mutant.name)
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("nothing noticed %s", strings.Join(names, ", "))
}
