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
	"sync"
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

// command does what the arguments say. It fails if a mutant was not caught.
func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("only", "", "a regular expression of the names of the mutants to plant")
	doc := flags.String("doc", "", "the page whose table is told of those that were planted, one by one")
	seeds := flags.Int("seeds", 300, "seeds of the simulation, at most; 0: none is played")
	seed0 := flags.Int("seed0", 1, "the first of them")
	tags := flags.String("tags", "nomsgpack", "build tags")
	alone := flags.Bool("sim", false, "play the simulation alone, for every mutant: what does it notice by itself?")
	jobs := flags.Int("jobs", 1, "mutants tried at once")
	lenient := flags.Bool("lenient", false, "leave out, and say so, what fails without any mutant")
	timeout := flags.Duration("timeout", 5*time.Minute, "of one run; a mutant that takes longer is caught")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	mutants, list, err := chosen(*only, root)
	if err != nil {
		return err
	}
	if *alone {
		for i := range mutants {
			mutants[i].tests, mutants[i].sim = nil, true
		}
	}
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &runner{
		builder: builder{root: root, dir: dir, tags: *tags}, timeout: *timeout, seeds: *seeds, seed0: *seed0,
		lenient: *lenient, leftOut: map[testRun][]string{},
	}
	if err := r.baseline(ctx, mutants); err != nil {
		return err
	}
	r.planted = true
	outcomes, err := r.tryAll(ctx, mutants, *jobs, func(o *outcome) error {
		fmt.Println(o.line())
		return tellPage(*doc, o, *alone, list)
	})
	if err != nil {
		return err
	}
	return missed(outcomes)
}

// chosen returns the mutants of the list that are to be planted, and the names of all. All of the list must be in order.
func chosen(only, root string) (mutants []mutant, list []string, err error) {
	re, err := regexp.Compile(only)
	if err != nil {
		return nil, nil, err
	}
	mutants, err = readMutants()
	if err != nil {
		return nil, nil, err
	}
	for i := range mutants {
		list = append(list, mutants[i].name)
		if err := mutants[i].check(root); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", mutants[i].name, err)
		}
	}
	return slices.DeleteFunc(mutants, func(m mutant) bool { return !re.MatchString(m.name) }), list, nil
}

// tryAll plants them, so many at once, and tells what becomes of each. One that does not build does not keep the others
// from being tried.
func (r *runner) tryAll(ctx context.Context, mutants []mutant, jobs int, tell func(*outcome) error) (outcomes []outcome, errs error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	turn := make(chan struct{}, max(1, jobs))
	for i := range mutants {
		turn <- struct{}{}
		all.Go(func() {
			out, err := r.try(ctx, &mutants[i])
			<-turn
			mu.Lock()
			defer mu.Unlock()
			switch {
			case ctx.Err() != nil:
			case err != nil:
				errs = errors.Join(errs, fmt.Errorf("%s: %w", mutants[i].name, err))
			default:
				errs = errors.Join(errs, tell(&out))
				outcomes = append(outcomes, out)
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	slices.SortFunc(outcomes, func(a, b outcome) int { return cmp.Compare(a.mutant.name, b.mutant.name) })
	return outcomes, errs
}

// missed is the error of mutants that nothing noticed.
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
