package simulation_test

import (
	"math/rand/v2"
	"sync"
	"time"
)

// dice is a random generator that several goroutines may use.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newDice(seed, stream uint64) *dice { return &dice{rng: rand.New(rand.NewPCG(seed, stream))} }

// n draws a number below k.
func (d *dice) n(k int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(k)
}

// once returns true in one of k cases.
func (d *dice) once(k int) bool { return d.n(k) == 0 }

// span draws a duration of any order of magnitude between the two.
func (d *dice) span(from, to time.Duration) time.Duration {
	for to > 4*from && d.n(3) > 0 {
		to /= 4
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return from + time.Duration(d.rng.Int64N(int64(to-from)+1))
}

// about draws a duration of any order of magnitude, either way.
func (d *dice) about(most time.Duration) time.Duration {
	ahead, behind := d.span(0, most), d.span(0, most)
	return ahead - behind
}
