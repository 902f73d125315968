package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// bench is one run of the program.
type bench struct {
	*measure.Run

	size  sizes
	files int
	large string // a closed store file with size.file items; empty: not made yet
}

// sizes are the sizes and durations of a run.
type sizes struct {
	rounds              int
	small, middle, high int           // items in the stores
	file                int           // items in the file to be opened
	lone                int           // puts of a single writer in a slice
	turns               int           // puts of each of many writers in a slice
	calls               time.Duration // length of a slice of computations
	load                time.Duration // how long memory is watched
}

func fullSizes() sizes {
	return sizes{
		rounds: 9, small: 10_000, middle: 100_000, high: 1_000_000, file: 1_000_000, lone: 200, turns: 64,
		calls: 150 * time.Millisecond, load: 5 * time.Second,
	}
}

func quickSizes() sizes {
	return sizes{
		rounds: 2, small: 2_000, middle: 5_000, high: 10_000, file: 10_000, lone: 30, turns: 6,
		calls: 10 * time.Millisecond, load: 500 * time.Millisecond,
	}
}

// group measures the rows whose ids begin with its name.
type group struct {
	name    string
	measure func(context.Context, *bench) error
}

func groups() []group {
	return []group{
		{"lone", measureLone},
		{"commit", measureCommits},
		{"index", measureIndexes},
		{"loop", measureLoop},
		{"get", measureGet},
		{"codec", measureCodec},
		{"query", measureQuery},
		{"crowd", measureCrowds},
		{"start", measureStart},
	}
}

// measure runs the groups with a selected row. A group reports in its rows what it cannot measure; an error means that the run itself
// failed, and ends it.
func (b *bench) measure(ctx context.Context) error {
	for _, g := range groups() {
		if !b.WantsGroup(g.name) {
			continue
		}
		began := time.Now()
		b.Say("%s ...", g.name)
		if err := g.measure(ctx, b); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			return fmt.Errorf("%s: %w", g.name, err)
		}
		b.Say("%s: %.1f s", g.name, time.Since(began).Seconds())
	}
	return nil
}

// file returns a path that is unique in this run.
func (b *bench) file(name string) string {
	b.files++
	return filepath.Join(b.Folder, fmt.Sprintf("%d-%s", b.files, name))
}
