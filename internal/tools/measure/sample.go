package measure

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Side is one side of a comparison.
type Side struct {
	Prepare func() error                // prepares a slice; not measured; may be nil
	Run     func() (ops int, err error) // runs a slice
	PID     int                         // of the process whose processor time is measured; 0: this one
}

// Sample is the measurement of one side, with a value for each slice.
type Sample struct {
	Wall []float64 // seconds per operation
	CPU  []float64 // processor seconds per operation
}

// Interleave runs slices of the sides in turns. It runs one more round than rounds: the first is a warm-up and not counted. The order is
// reversed from round to round, so that no side always follows the same one.
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

// Slice runs one slice after a garbage collection and returns the seconds per operation, of real time and of processor time.
func (s Side) Slice() (wall, cpu float64, err error) {
	if s.Prepare != nil {
		if err := s.Prepare(); err != nil {
			return 0, 0, err
		}
	}
	runtime.GC()
	began, used := time.Now(), processorTime(s.PID)
	ops, err := s.Run()
	took, worked := time.Since(began).Seconds(), (processorTime(s.PID) - used).Seconds()
	return took / float64(ops), worked / float64(ops), err
}

// Figure is a median with its spread.
type Figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Unit   string  `json:"unit"`
}

// FigureOf returns the median of one or more values.
func FigureOf(values []float64, unit string) Figure {
	sorted := slices.Sorted(slices.Values(values))
	middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return Figure{Median: middle, Min: sorted[0], Max: sorted[len(sorted)-1], Unit: unit}
}

// Scaled returns the values multiplied by a factor, such as seconds as microseconds.
func Scaled(values []float64, by float64, unit string) Figure {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return FigureOf(out, unit)
}

// Micros returns seconds as microseconds.
func Micros(seconds []float64) Figure { return Scaled(seconds, 1e6, "us") }

// Nanos returns seconds as nanoseconds.
func Nanos(seconds []float64) Figure { return Scaled(seconds, 1e9, "ns") }

// Rate converts seconds per operation to operations per second.
func Rate(seconds []float64) Figure {
	out := make([]float64, len(seconds))
	for i, v := range seconds {
		out[i] = 1 / v
	}
	return FigureOf(out, "/s")
}

// Exactly returns a figure without a spread.
func Exactly(v float64, unit string) Figure { return Figure{v, v, v, unit} }
