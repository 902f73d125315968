package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// simulation is a test that plays seeds. Environment variables tell it which.
type simulation struct {
	testRun
	seeds, first string // the variables
}

// simulations returns the simulations by the names that mutants use.
func simulations() map[string]simulation {
	return map[string]simulation{
		"yes":  {testRun{"./sync/replica/simulation", "^TestSimulation$"}, "TOUCHLINE_SIM_SEEDS", "TOUCHLINE_SIM_SEED0"},
		"page": {testRun{"./httpapi/page/simulation", "^TestSeeds$"}, "TOUCHLINE_PAGE_SEEDS", "TOUCHLINE_PAGE_SEED0"},
	}
}

// runner runs test programs.
type runner struct {
	builder
	timeout time.Duration // for one run
	seeds   int           // maximum for the simulation; 0: it is not run
}

// outcome is the result of one mutant.
type outcome struct {
	mutant *mutant
	tests  []string // the named tests that failed
	ran    bool     // the simulation was run
	seed   int      // the first failing seed; 0: none
	tried  int      // number of seeds
}

func (o *outcome) caught() bool { return len(o.tests) > 0 || o.seed > 0 }

// baseline runs everything that the mutants name without any mutant. It returns an error if something fails, because then its failures
// prove nothing.
func (r *runner) baseline(ctx context.Context, mutants []mutant) error {
	none := mutant{name: "baseline"}
	var sims []string
	for i := range mutants {
		none.tests = append(none.tests, mutants[i].tests...)
		sims = append(sims, mutants[i].sim)
	}
	slices.SortFunc(none.tests, func(a, b testRun) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.run, b.run)) })
	none.tests = slices.Compact(none.tests)
	few := *r
	few.seeds = min(r.seeds, baselineSeeds)
	slices.Sort(sims)
	for _, sim := range slices.Compact(sims) {
		none.sim = sim
		o, err := few.try(ctx, &none)
		if err == nil && o.caught() {
			err = fmt.Errorf("it fails without any mutant: %s", o.what())
		}
		if err != nil {
			return err
		}
		none.tests = nil // they have run
	}
	return nil
}

// baselineSeeds are played without a mutant. make sim shows that all seeds pass.
const baselineSeeds = 5

// try plants a mutant and runs what should notice it. It stops the tests at the first failing package, and the simulation at the first
// failing seed.
func (r *runner) try(ctx context.Context, m *mutant) (outcome, error) {
	out := outcome{mutant: m}
	defer r.clean(m)
	overlay, err := r.overlay(m)
	if err != nil {
		return out, err
	}
	for _, t := range m.tests {
		program, err := r.build(ctx, m.name, t.pkg, overlay)
		if err != nil {
			return out, err
		}
		failed, _ := r.run(ctx, program, t)
		if failed != nil { // one package is enough
			out.tests = failed
			break
		}
	}
	if sim, ok := simulations()[m.sim]; ok && r.seeds > 0 {
		program, err := r.build(ctx, m.name, sim.pkg, overlay)
		if err != nil {
			return out, err
		}
		r.simulate(ctx, program, sim, &out)
	}
	return out, ctx.Err()
}

// simulate plays seeds until one fails. It starts with few, because most mutants are caught early.
func (r *runner) simulate(ctx context.Context, program string, sim simulation, out *outcome) {
	out.ran = true
	for n := 1; out.tried < r.seeds && ctx.Err() == nil; n *= 2 {
		n = min(n, r.seeds-out.tried, 32)
		first := 1 + out.tried
		failed, text := r.run(ctx, program, sim.testRun, fmt.Sprintf("%s=%d", sim.first, first), fmt.Sprintf("%s=%d", sim.seeds, n))
		if failed != nil {
			out.seed = failedSeed(text, first, n)
			out.tried = out.seed
			return
		}
		out.tried += n
	}
}

var seedNumber = regexp.MustCompile(`(?i)\bseed[ =:_]+(\d+)`)

// failedSeed finds the failing seed in the output of a run; if there is none, it returns the run's last seed.
func failedSeed(text string, first, n int) int {
	for _, match := range seedNumber.FindAllStringSubmatch(text, -1) {
		if seed, err := strconv.Atoi(match[1]); err == nil && seed >= first && seed < first+n {
			return seed
		}
	}
	return first + n - 1
}

// run runs tests until one fails, and returns the names of the failed ones, or nil if all passed. A program that crashes or does not end
// has failed too.
func (r *runner) run(ctx context.Context, program string, t testRun, env ...string) (failed []string, text string) {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	args := []string{"-test.run", t.run, "-test.timeout", r.timeout.String(), "-test.failfast"}
	const noFile = "rapid.nofailfile" // otherwise rapid would store its failures in the tree
	if raw, err := os.ReadFile(program); err == nil && bytes.Contains(raw, []byte(noFile)) {
		args = append(args, "-"+noFile)
	}
	cmd := exec.CommandContext(limited, program, args...)
	cmd.Dir = filepath.Join(r.root, filepath.FromSlash(t.pkg))
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil, string(out)
	}
	failed = failures(string(out))
	switch {
	case failed != nil:
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		failed = []string{"no end of " + t.run}
	default:
		failed = []string{"a panic in " + t.run}
	}
	return failed, string(out)
}

// failures returns the names of the failed tests; for a test with subtests, those of the subtests.
func failures(out string) (names []string) {
	for _, match := range failedTest.FindAllStringSubmatch(out, -1) {
		names = append(names, match[1])
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
