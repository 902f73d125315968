package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
)

// bench is one run of the program.
type bench struct {
	*measure.Run

	binary  string // the measured program
	size    sizes
	servers []*server
	absent  map[string]string // why a peer is missing, by name
	results results
}

// sizes are the sizes and durations of a run.
type sizes struct {
	rounds int
	items  int
	ready  int // different requests for each client
	slice  time.Duration
	warm   time.Duration // how long a slow starter is called before its first slice
	starts int
}

func newBench(run *measure.Run, binary string) *bench {
	b := &bench{
		Run: run, binary: binary, absent: map[string]string{}, results: results{},
		size: sizes{rounds: 5, items: 10_000, ready: 64, slice: time.Second, warm: 3 * time.Second, starts: 5},
	}
	if run.Quick {
		b.size = sizes{rounds: 2, items: 1_000, ready: 64, slice: 100 * time.Millisecond, warm: 300 * time.Millisecond, starts: 2}
	}
	return b
}

// startAll starts and fills all servers. Peers that are not available here are left out.
func (b *bench) startAll(ctx context.Context) error {
	for _, c := range []struct {
		name  string
		peer  bool
		start func() (*server, error)
	}{
		{cannedBytes, false, func() (*server, error) { return startCanned(ctx) }},
		{ours, false, func() (*server, error) { return b.startWithFile(ctx) }},
		{oursMemory, false, func() (*server, error) { return b.startInMemory(ctx) }},
		{dynalite, true, func() (*server, error) { return startDynalite(ctx) }},
		{localMemory, true, func() (*server, error) { return startLocal(ctx, localMemory, "") }},
		{localDisk, true, func() (*server, error) { return startLocal(ctx, localDisk, b.Folder) }},
	} {
		s, err := c.start()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !c.peer {
			return err
		}
		if err != nil {
			b.leaveOut(c.name, err)
			continue
		}
		if err := b.add(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) startWithFile(ctx context.Context) (*server, error) {
	return startOurs(ctx, b.binary, ours, "--data", filepath.Join(b.Folder, "bench.db"))
}

func (b *bench) startInMemory(ctx context.Context) (*server, error) {
	return startOurs(ctx, b.binary, oursMemory, "--memory")
}

func (b *bench) leaveOut(name string, why error) {
	b.absent[name] = why.Error()
	b.Say("%s is left out: %v", name, why)
}

// add adds a started server to those that are measured, and fills it.
func (b *bench) add(ctx context.Context, s *server) error {
	b.servers = append(b.servers, s)
	if s.empty {
		return nil
	}
	began := time.Now()
	if err := measure.Fill(ctx, s.client, b.size.items); err != nil {
		return fmt.Errorf("fill %s: %w", s.name, err)
	}
	b.Say("%s: first answer after %.0f ms, %d items in %.1f s",
		s.name, s.began.Seconds()*1e3, b.size.items, time.Since(began).Seconds())
	return nil
}

// end stops all running servers.
func (b *bench) end() {
	for _, s := range b.servers {
		s.stop()
	}
	b.servers = nil
}

func (b *bench) server(name string) *server {
	if i := slices.IndexFunc(b.servers, func(s *server) bool { return s.name == name }); i >= 0 {
		return b.servers[i]
	}
	return nil
}

// workload is an operation with a number of clients.
type workload struct {
	operation
	clients int
}

// asked returns the servers that have the operation.
func (b *bench) asked(w workload) (out []*server) {
	for _, s := range b.servers {
		if s.lacks != w.id {
			out = append(out, s)
		}
	}
	return out
}

// run measures a workload with all servers.
func (b *bench) run(ctx context.Context, w workload) error {
	calls := w.prepare(w.clients, b.size.items, b.size.ready)
	servers := b.asked(w)
	sides := make([]measure.Side, len(servers))
	for i, s := range servers {
		if s.slow {
			if _, err := s.ask(ctx, calls, b.size.warm); err != nil {
				return err
			}
		}
		sides[i].Run = func() (int, error) { return s.ask(ctx, calls, b.size.slice) }
	}
	got, err := measure.Interleave(ctx, b.size.rounds, sides...)
	if err != nil {
		return err
	}
	for i, s := range servers {
		b.results.about(s.name).Rates[load(w.id, w.clients)] = measure.Rate(got[i].Wall)
	}
	return nil
}

// ask makes calls with each client for a while, one after the other.
func (s *server) ask(ctx context.Context, calls [][]call, d time.Duration) (count int, err error) {
	return s.busy(len(calls), d, func(client, n int) error { return calls[client][n%len(calls[client])](ctx, s.client) })
}

// busy lets each client do one thing after the other for a while, and counts them.
func (s *server) busy(clients int, d time.Duration, do func(client, n int) error) (count int, err error) {
	counts := make([]int, clients)
	end := time.Now().Add(d)
	err = measure.Together(clients, func(i int) error {
		for n := 0; n == 0 || time.Now().Before(end); n++ { // at least once, however late it gets its turn
			if err := do(i, n); err != nil {
				return err
			}
			counts[i]++
		}
		return nil
	})
	for _, n := range counts {
		count += n
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	return count, err
}
