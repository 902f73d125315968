// Package hang limits how long tests wait. Such a limit ends a test that hangs; it never judges how fast the code is. A fixed limit would
// be too short on a slow machine, so the limit grows with the time that the machine takes for a known piece of work, which is longer on
// slow cores, under load, and with the race detector.
package hang

import "time"

const (
	// reference is the duration of that work on an idle two-core virtual machine without the race detector.
	reference = 150 * time.Microsecond
	// slowest is the largest factor: a slower machine cannot run the tests at all.
	slowest = 10
)

// Limit returns how long a test may wait for something that takes a fraction of d on an idle machine: d there, and up to ten times d on a
// slow one. In virtual time, which stands still meanwhile, it is d.
func Limit(d time.Duration) time.Duration { return scaled(d, measure()) }

func scaled(d, took time.Duration) time.Duration {
	return time.Duration(float64(d) * min(max(float64(took)/float64(reference), 1), slowest))
}

// measure times loads and stores, which the race detector instruments.
func measure() time.Duration {
	began := time.Now()
	cells := make([]uint64, 1<<12)
	for i := range uint64(100_000) {
		cells[i*2654435761%uint64(len(cells))] += i
	}
	return time.Since(began)
}
