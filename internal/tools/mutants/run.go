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

// simulation is told by its environment which seeds to play.
func simulation() testRun { return testRun{"./sync/replica/simulation", "^TestSimulation$"} }

// runner runs test programs.
type runner struct {
	builder
	timeout time.Duration // of one run
	seeds   int           // of the simulation, at most; 0: it is not played
}

// outcome is what became of one mutant.
type outcome struct {
	mutant *mutant
	tests  []string // the named tests that failed, "" if none did
	ran    bool     // the simulation
	seed   int      // the first that failed; 0: none did
	tried  int      // seeds
	took   time.Duration
}

func (o *outcome) caught() bool { return len(o.tests) > 0 || o.seed > 0 }

// baseline runs all that the mutants name without any: what fails by itself proves nothing, and is an error.
func (r *runner) baseline(ctx context.Context, mutants []mutant) error {
	none := mutant{name: "baseline"}
	for i := range mutants {
		none.tests = append(none.tests, mutants[i].tests...)
		none.sim = none.sim || mutants[i].sim
	}
	slices.SortFunc(none.tests, func(a, b testRun) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.run, b.run)) })
	none.tests = slices.Compact(none.tests)
	few := *r
	few.seeds = min(r.seeds, baselineSeeds)
	o, err := few.try(ctx, &none)
	if err == nil && o.caught() {
		err = fmt.Errorf("it fails without any mutant: %s", o.what())
	}
	return err
}

// baselineSeeds are played without a mutant. That all of them pass is for make sim to show.
const baselineSeeds = 5

// try plants a mutant and runs what should notice it. The named tests stop at the first place that fails, the simulation
// at the first seed.
func (r *runner) try(ctx context.Context, m *mutant) (outcome, error) {
	began := time.Now()
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
		if failed != nil { // one place is enough
			out.tests = failed
			break
		}
	}
	if m.sim && r.seeds > 0 {
		program, err := r.build(ctx, m.name, simulation().pkg, overlay)
		if err != nil {
			return out, err
		}
		r.simulate(ctx, program, &out)
	}
	out.took = time.Since(began)
	return out, ctx.Err()
}

// simulate plays seeds until one fails: few at first, since most mutants do not live long.
func (r *runner) simulate(ctx context.Context, program string, out *outcome) {
	out.ran = true
	for n := 1; out.tried < r.seeds && ctx.Err() == nil; n *= 2 {
		n = min(n, r.seeds-out.tried, 32)
		first := 1 + out.tried
		failed, text := r.run(ctx, program, simulation(), fmt.Sprintf("TOUCHLINE_SIM_SEED0=%d", first), fmt.Sprintf("TOUCHLINE_SIM_SEEDS=%d", n))
		if failed != nil {
			out.seed = failedSeed(text, first, n)
			out.tried = out.seed
			return
		}
		out.tried += n
	}
}

var seedNumber = regexp.MustCompile(`(?i)\bseed[ =:]+(\d+)`)

// failedSeed finds the seed that failed in what a run has printed, its last one if it did not say.
func failedSeed(text string, first, n int) int {
	for _, match := range seedNumber.FindAllStringSubmatch(text, -1) {
		if seed, err := strconv.Atoi(match[1]); err == nil && seed >= first && seed < first+n {
			return seed
		}
	}
	return first + n - 1
}

// run runs tests until one fails, and returns the names of those that failed; nil: all passed. A program that crashes or does not end has
// failed too.
func (r *runner) run(ctx context.Context, program string, t testRun, env ...string) (failed []string, text string) {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	args := []string{"-test.run", t.run, "-test.timeout", r.timeout.String(), "-test.failfast"}
	const noFile = "rapid.nofailfile" // a failure that rapid found would be kept in the tree
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

// failures returns the names of the tests that failed, of a test with others within it those.
func failures(out string) (names []string) {
	for _, match := range failedTest.FindAllStringSubmatch(out, -1) {
		names = append(names, match[1])
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
