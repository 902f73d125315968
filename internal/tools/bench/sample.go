package main

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// side is one of the things that are compared.
type side struct {
	prepare func() error                // makes what the slice needs; not measured, may be nil
	run     func() (ops int, err error) // a slice
}

// sample is what was measured of one side, a value a slice.
type sample struct {
	wall []float64 // seconds an operation
	cpu  []float64 // processor seconds of this process an operation
}

// interleave runs slices of the sides in turns. The order turns around from one round to the next, so that no side
// always has the same one before it.
func interleave(ctx context.Context, rounds int, sides ...side) ([]sample, error) {
	out := make([]sample, len(sides))
	for round := range rounds + 1 {
		for k := range sides {
			i := k
			if round%2 == 1 {
				i = len(sides) - 1 - k
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			wall, cpu, err := slice(sides[i])
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one warms up
				out[i].wall, out[i].cpu = append(out[i].wall, wall), append(out[i].cpu, cpu)
			}
		}
	}
	return out, nil
}

func slice(s side) (wall, cpu float64, err error) {
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return 0, 0, err
		}
	}
	runtime.GC()
	began, used := time.Now(), cpuTime()
	ops, err := s.run()
	took, worked := time.Since(began).Seconds(), (cpuTime() - used).Seconds()
	return took / float64(ops), worked / float64(ops), err
}

// calls makes a side of a function that only computes: a slice takes about as long as said. fn is called to find out
// how often.
func calls(slice time.Duration, fn func() error) (side, error) {
	n := 1
	for {
		began := time.Now()
		for range n {
			if err := fn(); err != nil {
				return side{}, err
			}
		}
		took := time.Since(began)
		if took > slice/10 || n >= 1<<24 {
			n = max(1, int(float64(n)*float64(slice)/float64(max(took, 1))))
			break
		}
		n *= 4
	}
	run := func() (int, error) {
		for range n {
			if err := fn(); err != nil {
				return n, err
			}
		}
		return n, nil
	}
	return side{run: run}, nil
}

// compareCalls measures functions that only compute in turns.
func (b *bench) compareCalls(ctx context.Context, fns ...func() error) ([]sample, error) {
	sides := make([]side, len(fns))
	for i, fn := range fns {
		var err error
		if sides[i], err = calls(b.size.calls, fn); err != nil {
			return nil, err
		}
	}
	return interleave(ctx, b.size.rounds, sides...)
}

// figure is a median with the spread it comes from.
type figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Unit   string  `json:"unit"`
}

func figureOf(values []float64, unit string) figure {
	sorted := slices.Sorted(slices.Values(values))
	middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return figure{Median: middle, Min: sorted[0], Max: sorted[len(sorted)-1], Unit: unit}
}

// scaled gives the values times a factor: seconds as microseconds, say.
func scaled(values []float64, by float64, unit string) figure {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return figureOf(out, unit)
}

func micros(seconds []float64) figure { return scaled(seconds, 1e6, "us") }

func nanos(seconds []float64) figure { return scaled(seconds, 1e9, "ns") }

// rate turns seconds an operation into operations a second.
func rate(seconds []float64) figure {
	out := make([]float64, len(seconds))
	for i, v := range seconds {
		out[i] = 1 / v
	}
	return figureOf(out, "/s")
}

func exactly(v float64, unit string) figure { return figure{v, v, v, unit} }
