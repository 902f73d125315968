package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// measureStart opens a large file in a process of its own, like a node: after an orderly close and after a kill, with nothing of the file
// in the page cache.
func measureStart(ctx context.Context, b *bench) error {
	if why := b.lacksSpace(b.size.file); why != "" {
		b.MissingGroup("start", why)
		return nil
	}
	if b.large == "" {
		var err error
		if b.large, err = b.filled(ctx, b.size.file); err != nil {
			return err
		}
	}
	defer measure.Remove(b.large)
	if err := b.measureClean(ctx, b.large); err != nil {
		return err
	}
	return b.measureCrash(ctx, b.large)
}

// lacksSpace returns the reason why a file with so many items cannot be made, or "". Such a file takes about 1.6 KB per item, and more
// while it is written.
func (b *bench) lacksSpace(items int) string {
	free, err := measure.FreeBytes(b.Folder)
	need := uint64(items)*2500 + 512<<20
	if err == nil && free < need {
		return fmt.Sprintf("it needs %d MB of disk", need>>20)
	}
	return ""
}

func (b *bench) measureClean(ctx context.Context, path string) error {
	var took, memory []float64
	for range b.size.rounds {
		node, millis, err := openCold(ctx, path)
		if err != nil {
			return err
		}
		now, known := measure.MemoryOf(node.PID())
		node.end()
		if known {
			memory = append(memory, now.Anonymous)
		}
		took = append(took, millis)
	}
	b.Alone("start/clean", measure.FigureOf(took, "ms"))
	b.aloneMB("start/memory", memory)
	return nil
}

// aloneMB adds a row about memory, if the system reports it.
func (b *bench) aloneMB(id string, memory []float64) {
	if len(memory) == 0 {
		b.Missing(id, measure.ErrMemory)
		return
	}
	b.Alone(id, measure.FigureOf(memory, "MB"))
}

// measureCrash lets a node work, watches its memory meanwhile, kills it, and opens the file again.
func (b *bench) measureCrash(ctx context.Context, path string) error {
	if !b.Wants("start/load") && !b.Wants("start/crash") {
		return nil
	}
	var took, memory []float64
	for range max(2, b.size.rounds/3) {
		node, _, err := openCold(ctx, path)
		if err != nil {
			return err
		}
		most, err := b.workAndWatch(node)
		node.Kill()
		if err != nil {
			return err
		}
		memory = append(memory, most...)
		again, millis, err := openCold(ctx, path)
		if err != nil {
			return err
		}
		again.end()
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		took = append(took, millis/1e3/(float64(info.Size())/1e9))
	}
	b.Alone("start/crash", measure.FigureOf(took, "s/GB"))
	b.aloneMB("start/load", memory)
	return nil
}

// workAndWatch returns the peak memory of a node while it works.
func (b *bench) workAndWatch(node *remote) (most []float64, err error) {
	work := node.Go("Child.Work", Order{Items: b.size.file, Conns: 64, Millis: b.size.load.Milliseconds()}, new(int), nil)
	peak, every := 0.0, time.NewTicker(20*time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-work.Done:
			if peak > 0 {
				most = []float64{peak}
			}
			return most, work.Error
		case <-every.C:
			if now, known := measure.MemoryOf(node.PID()); known {
				peak = max(peak, now.Anonymous)
			}
		}
	}
}

// openCold opens a file that is not in the page cache.
func openCold(ctx context.Context, path string) (node *remote, millis float64, err error) {
	if err := measure.Forget(path); err != nil {
		return nil, 0, err
	}
	if node, err = startChild(ctx, -1); err != nil {
		return nil, 0, err
	}
	if err := node.Call("Child.Open", path, &millis); err != nil {
		node.Kill()
		return nil, 0, err
	}
	return node, millis, nil
}

// work keeps a store busy for a while: half of the goroutines put, the others get.
func work(ctx context.Context, s *store.Store, o Order) error {
	end := time.Now().Add(time.Duration(o.Millis) * time.Millisecond)
	return measure.Together(o.Conns, func(i int) (err error) {
		var buf []byte
		for time.Now().Before(end) && err == nil {
			n := rand.IntN(o.Items)
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
