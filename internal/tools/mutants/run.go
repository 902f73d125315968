package main

import (
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

// The simulation, and how it is told which seeds to play.
const (
	simPackage = "./sync/replica/simulation"
	simTest    = "^TestSimulation$"
	simSeeds   = "TOUCHLINE_SIM_SEEDS"
	simSeed0   = "TOUCHLINE_SIM_SEED0"
)

// runner runs test programs.
type runner struct {
	builder
	timeout time.Duration // of one run
	seeds   int           // of the simulation, at most; 0: it is not played
	seed0   int
	lenient bool
	planted bool                 // the baseline is done
	leftOut map[testRun][]string // tests that fail without a mutant
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

// baseline runs all that the mutants name without any: what fails by itself proves nothing. It is an error, or is left out
// and said.
func (r *runner) baseline(ctx context.Context, mutants []mutant) error {
	programs := map[string]string{}
	for _, t := range r.named(mutants) {
		if programs[t.pkg] == "" {
			program, err := r.build(ctx, "baseline", t.pkg, "")
			if err != nil {
				return err
			}
			programs[t.pkg] = program
		}
		var env []string
		if t == simulation() {
			env = r.seedEnv(r.seed0, min(r.seeds, baselineSeeds))
		}
		failed, _ := r.run(ctx, programs[t.pkg], t, env...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed == nil {
			continue
		}
		if !r.lenient {
			return fmt.Errorf("%s -run '%s' fails without any mutant: %s", t.pkg, t.run, strings.Join(failed, ", "))
		}
		fmt.Printf("left out, because it fails without any mutant: %s: %s\n", t.pkg, strings.Join(failed, ", "))
		r.leftOut[t] = failed
	}
	return nil
}

// named lists what the mutants name, each once.
func (r *runner) named(mutants []mutant) (out []testRun) {
	for i := range mutants {
		out = append(out, mutants[i].tests...)
		if mutants[i].sim && r.seeds > 0 {
			out = append(out, simulation())
		}
	}
	slices.SortFunc(out, func(a, b testRun) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.run, b.run)) })
	return slices.Compact(out)
}

func simulation() testRun { return testRun{simPackage, simTest} }

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
	if m.sim && r.seeds > 0 && r.leftOut[simulation()] == nil {
		program, err := r.build(ctx, m.name, simPackage, overlay)
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
		first := r.seed0 + out.tried
		failed, text := r.run(ctx, program, simulation(), r.seedEnv(first, n)...)
		if failed != nil {
			out.seed = failedSeed(text, first, n)
			out.tried = out.seed - r.seed0 + 1
			return
		}
		out.tried += n
	}
}

func (r *runner) seedEnv(first, n int) []string {
	return []string{simSeed0 + "=" + strconv.Itoa(first), simSeeds + "=" + strconv.Itoa(n)}
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

// run runs tests and returns the names of those that failed; nil: all passed. A program that crashes or does not end has
// failed too.
func (r *runner) run(ctx context.Context, program string, t testRun, env ...string) (failed []string, text string) {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	args := []string{"-test.run", t.run, "-test.timeout", r.timeout.String()}
	if r.planted { // one failure is enough
		args = append(args, "-test.failfast")
	}
	if skip := r.leftOut[t]; skip != nil {
		args = append(args, "-test.skip", skipping(skip))
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

// skipping is a regular expression of the tests of these names, those within others included.
func skipping(names []string) string {
	var tops []string
	for _, name := range names {
		top, _, _ := strings.Cut(name, "/")
		tops = append(tops, "^"+regexp.QuoteMeta(top)+"$")
	}
	return strings.Join(tops, "|")
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
