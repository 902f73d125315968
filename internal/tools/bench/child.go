package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// child stands for a node in a process of its own: it opens the store at args[0] and prints how many milliseconds that took. It keeps a
// store of args[1] items busy until it is killed; with 0 it closes the store when its input ends.
func child(ctx context.Context, args []string) error {
	items, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	began := time.Now()
	s, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	fmt.Println(time.Since(began).Seconds() * 1e3)
	if items > 0 {
		err = work(ctx, s, items)
	} else {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return errors.Join(err, s.Close())
}

// work keeps a store busy: half of the goroutines put, the others get.
func work(ctx context.Context, s *store.Store, items int) error {
	return measure.Together(64, func(i int) (err error) {
		var buf []byte
		for err == nil {
			n := rand.IntN(items)
			if i%2 == 0 {
				it := measure.MakeItem(n, rand.IntN(ranks), rand.IntN(7))
				err = s.Update(ctx, func(tx *store.Tx) error { return putItem(tx, it) })
				continue
			}
			err = s.View(ctx, func(tx *store.Tx) (err error) {
				buf, err = getJSON(tx, measure.KeyOf(n), buf[:0])
				return err
			})
		}
		return err
	})
}

// remote is a child as seen by its parent.
type remote struct {
	*process.Process
	input io.Closer
}

// openCold lets a child open a file that is not in the page cache, and keep it busy if busy is not 0, the number of its items.
func openCold(ctx context.Context, path string, busy int) (node *remote, millis float64, err error) {
	if err := measure.Forget(path); err != nil {
		return nil, 0, err
	}
	cmd, err := measure.Self(ctx, path, strconv.Itoa(busy))
	if err != nil {
		return nil, 0, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	p, line, err := measure.Start(cmd)
	if err != nil {
		return nil, 0, err
	}
	if millis, err = strconv.ParseFloat(line, 64); err != nil {
		p.Kill()
		return nil, 0, err
	}
	return &remote{p, in}, millis, nil
}

// end lets the child end in an orderly way.
func (r *remote) end() {
	measure.Shut(r.input)
	r.Await(time.Minute)
}
