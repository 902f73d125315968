package main

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// calls returns a side of a function that only computes. It calls fn to find how many calls fill a slice of the given length.
func calls(slice time.Duration, fn func() error) (measure.Side, error) {
	n := 1
	for {
		began := time.Now()
		for range n {
			if err := fn(); err != nil {
				return measure.Side{}, err
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
	return measure.Side{Run: run}, nil
}

// compareCalls measures functions that only compute, in turns.
func (b *bench) compareCalls(ctx context.Context, fns ...func() error) ([]measure.Sample, error) {
	sides := make([]measure.Side, len(fns))
	for i, fn := range fns {
		var err error
		if sides[i], err = calls(b.size.calls, fn); err != nil {
			return nil, err
		}
	}
	return measure.Interleave(ctx, b.size.rounds, sides...)
}
