package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// measureStart opens a large file in a process of its own, like a node: after an orderly close and after a kill, with nothing of the file
// in the page cache.
func measureStart(ctx context.Context, b *bench) error {
	if why := b.lacksSpace(b.size.file); why != "" {
		b.MissingGroup("start", why)
		return nil
	}
	if b.large == "" {
		s, err := openOurs(ctx, b.file("store.db"), b.size.file, 0)
		if err != nil {
			return err
		}
		b.large = s.Path()
		if err := s.Close(); err != nil {
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
		node, millis, err := openCold(ctx, path, 0)
		if err != nil {
			return err
		}
		memory, took = append(memory, measure.MemoryOf(node.PID()).Anonymous), append(took, millis)
		node.end()
	}
	b.Alone("start/clean", measure.FigureOf(took, "ms"))
	b.AloneMB("start/memory", memory...)
	return nil
}

// measureCrash lets a node work, watches its memory meanwhile, kills it, and opens the file again.
func (b *bench) measureCrash(ctx context.Context, path string) error {
	if !b.Wants("start/load") && !b.Wants("start/crash") {
		return nil
	}
	var took, memory []float64
	for range max(2, b.size.rounds/3) {
		node, _, err := openCold(ctx, path, b.size.file)
		if err != nil {
			return err
		}
		most, err := b.watch(node)
		node.Kill()
		if err != nil {
			return err
		}
		memory = append(memory, most)
		again, millis, err := openCold(ctx, path, 0)
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
	b.AloneMB("start/load", memory...)
	return nil
}

// watch returns the peak memory of a node that works, 0 if the system does not report it.
func (b *bench) watch(node *remote) (peak float64, err error) {
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for end := time.Now().Add(b.size.load); time.Now().Before(end); {
		select {
		case <-node.Exited:
			return 0, errors.New("the node has ended under load")
		case <-every.C:
		}
		peak = max(peak, measure.MemoryOf(node.PID()).Anonymous)
	}
	return peak, nil
}
