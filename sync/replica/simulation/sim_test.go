package simulation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// simEvents is the length of a seed: writes, requests, effects and mishaps together. A short run plays part of the history.
func simEvents() int {
	if testing.Short() && os.Getenv(simAsked) == "" {
		return 2000
	}
	return 3500
}

// simAsked names the variable that sets the number of seeds.
const simAsked = "TOUCHLINE_SIM_SEEDS"

// The simulation: nodes, a cloud, foreign writers and everything that may go wrong, for a number of seeds. Every seed is one history, the
// same each time: make sim SEEDS=1 SEED0=n replays one with its whole trace.
func TestSimulation(t *testing.T) {
	first, seeds := simSeeds(t)
	step := uint64(1)
	if v := os.Getenv("TOUCHLINE_SIM_STEP"); v != "" { // only every step-th seed, for those of one kind
		step = uint64(number(t, v))
	}
	playSeeds(t, first, seeds, step)
}

// playSeeds plays a number of seeds, step apart.
func playSeeds(t *testing.T, first uint64, seeds int, step uint64) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))    // goroutines that wake together run one after the other
	defer debug.SetGCPercent(debug.SetGCPercent(2000)) // a seed leaves little garbage, and uses half a gigabyte at most
	fired, failed := map[string]int{}, 0
	events, began := 0, time.Now()
	for i := range seeds {
		n, f := 0, map[string]int(nil)
		seed := first + uint64(i)*step
		good := t.Run(fmt.Sprint(seed), func(t *testing.T) { n, f = simulate(t, seed, seeds == 1) })
		if !good {
			failed++
		}
		events += n
		for what, times := range f {
			fired[what] += times
		}
		if failed > 9 {
			t.Fatalf("%d of %d seeds have failed", failed, i+1)
		}
	}
	took := time.Since(began)
	t.Logf("%d seeds, %d events, %.0f events a second", seeds, events, float64(events)/took.Seconds())
	checkFired(t, fired, seeds >= 200)
}

// simSeeds returns which seeds to run: the number that make sim asks for, otherwise some.
func simSeeds(t *testing.T) (first uint64, seeds int) {
	first, seeds = 1, 10
	if testing.Short() {
		seeds = 3
	}
	if v := os.Getenv(simAsked); v != "" {
		seeds = number(t, v)
	}
	if v := os.Getenv("TOUCHLINE_SIM_SEED0"); v != "" {
		first = uint64(number(t, v))
	}
	return first, seeds
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// simulate runs one seed.
func simulate(t *testing.T, seed uint64, whole bool) (events int, fired map[string]int) {
	hash, events, fired := simulateHash(t, seed, whole)
	t.Logf("history %016x, %d events", hash, events)
	return events, fired
}

func simulateHash(t *testing.T, seed uint64, whole bool) (hash uint64, events int, fired map[string]int) {
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, seed)
		s.run()
		hash, events, fired = s.hash, s.count(), s.net.Fired()
		if whole {
			t.Logf("trace: %s", s.keepTrace())
		}
		if s.broken() {
			t.Errorf("seed %d: %s\nreplay: make sim SEEDS=1 SEED0=%d\ntrace: %s", seed, strings.Join(s.failed, "\n"), seed, s.keepTrace())
		}
	})
	return hash, events, fired
}

// keepTrace writes the trace to a file.
func (s *sim) keepTrace() string {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("touchline-sim-%d.trace", s.seed))
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.String() + "\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return err.Error()
	}
	return path
}

// run plays one seed: trouble, then healing, then quiet, then the account.
func (s *sim) run() {
	s.boot()
	defer s.watchCommits()()
	list := mishapsOf(s.seed)
	for s.count() < simEvents() && !s.broken() {
		s.sleep(s.span(time.Millisecond, 3*time.Second))
		n := s.nodes[s.n(len(s.nodes))]
		for range 1 + s.n(3) {
			if l := n.up(); l != nil {
				l.operate()
				s.book.glance(l)
				synctest.Wait() // nothing else may be running at an instant of ours: the order would be random
			}
		}
		for _, m := range list {
			if m.due(s) && !s.broken() {
				if m.rare > 10 {
					s.trace("-- %s on %s", m.name, n.name)
				}
				if m.do(s, n) {
					s.net.Count(m.name)
				}
				synctest.Wait()
			}
		}
		if s.seed%3 == 0 && n.up() == nil {
			n.start()
		}
	}
	if !s.broken() {
		s.heal()
	}
	if !s.broken() {
		s.quiet()
	}
	if !s.broken() {
		s.book.settle()
	}
	for _, n := range s.nodes {
		n.kill()
	}
	s.zoo.Wait()
	_ = os.RemoveAll(s.dir)
}

// boot starts the machines one by one.
func (s *sim) boot() {
	for i := range 2 + s.n(4) {
		n := newSimNode(s, fmt.Sprintf("n%d", i))
		n.no, n.rate = i, 1+float64(s.n(2000)-1000)/1e5
		if n.rate != 1 {
			s.net.Count("clock drift")
		}
		if s.once(3) {
			n.offset = s.about(time.Hour)
			s.net.Count("clock skew at boot")
		}
		s.nodes = append(s.nodes, n)
		n.start()
		if l := n.up(); l != nil {
			l.link.SetRate(s.n(120))
		}
	}
}

// heal ends all trouble: machines run, clocks are right, the network works, and an operator has dealt with what waits for one. A paused
// machine resumes at its time, as a whole: healing ends when the last one does.
func (s *sim) heal() {
	s.trace("-- healing")
	s.healed, s.lastBall = true, s.ball()
	for _, spec := range cloudSpecs() {
		s.cloud.Hide(spec.Name, false)
	}
	for _, n := range s.nodes {
		n.killIn.Store(0)
		n.killAt.Store(nil)
		n.pausesNext.Store(false)
		n.mu.Lock()
		n.offset, n.broken = 0, diskFault{}
		n.mu.Unlock()
		if l := n.up(); l != nil && l.store.Err() != nil {
			n.kill()
		}
		if n.up() == nil {
			n.start()
		}
		if l := n.up(); l != nil {
			l.link.Heal()
		}
	}
	for _, n := range s.nodes {
		n.gate()
	}
}
