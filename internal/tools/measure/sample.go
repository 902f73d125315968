package measure

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Side is one of the things that are compared.
type Side struct {
	Prepare func() error                // makes what the slice needs; not measured, may be nil
	Run     func() (ops int, err error) // a slice
}

// Sample is what was measured of one side, a value a slice.
type Sample struct {
	Wall []float64 // seconds an operation
	CPU  []float64 // processor seconds of this process an operation
}

// Interleave runs slices of the sides in turns, one round more than is said: the first one warms up and is not counted.
// The order turns around from one round to the next, so that no side always has the same one before it.
func Interleave(ctx context.Context, rounds int, sides ...Side) ([]Sample, error) {
	out := make([]Sample, len(sides))
	for round := range rounds + 1 {
		for k := range sides {
			i := k
			if round%2 == 1 {
				i = len(sides) - 1 - k
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			wall, cpu, err := sides[i].Slice()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				out[i].Wall, out[i].CPU = append(out[i].Wall, wall), append(out[i].CPU, cpu)
			}
		}
	}
	return out, nil
}

// Slice runs one slice behind a garbage collection and returns the seconds that an operation took, and those of this
// process's processor time.
func (s Side) Slice() (wall, cpu float64, err error) {
	if s.Prepare != nil {
		if err := s.Prepare(); err != nil {
			return 0, 0, err
		}
	}
	runtime.GC()
	began, used := time.Now(), CPUTime()
	ops, err := s.Run()
	took, worked := time.Since(began).Seconds(), (CPUTime() - used).Seconds()
	return took / float64(ops), worked / float64(ops), err
}

// Figure is a median with the spread it comes from.
type Figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Unit   string  `json:"unit"`
}

// FigureOf takes the median of one value or more.
func FigureOf(values []float64, unit string) Figure {
	sorted := slices.Sorted(slices.Values(values))
	middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return Figure{Median: middle, Min: sorted[0], Max: sorted[len(sorted)-1], Unit: unit}
}

// Scaled returns the values times a factor: seconds as microseconds, say.
func Scaled(values []float64, by float64, unit string) Figure {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return FigureOf(out, unit)
}

// Micros shows seconds as microseconds.
func Micros(seconds []float64) Figure { return Scaled(seconds, 1e6, "us") }

// Nanos shows seconds as nanoseconds.
func Nanos(seconds []float64) Figure { return Scaled(seconds, 1e9, "ns") }

// Rate turns seconds an operation into operations a second.
func Rate(seconds []float64) Figure {
	out := make([]float64, len(seconds))
	for i, v := range seconds {
		out[i] = 1 / v
	}
	return FigureOf(out, "/s")
}

// Exactly is a figure without a spread.
func Exactly(v float64, unit string) Figure { return Figure{v, v, v, unit} }
