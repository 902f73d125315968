//go:build long

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
)

// behind returns clients of one DynamoDB Local, each behind its own network.
func behind(t *testing.T, n int, seed uint64, table store.TableSpec) ([]*Client, []*faultproxy.Proxy) {
	t.Helper()
	keys(t)
	s := ddblocal.Start(t)
	clients, doors := make([]*Client, n), make([]*faultproxy.Proxy, n)
	for i := range n {
		doors[i] = faultproxy.Start(t, s.Addr, seed+uint64(i))
		clients[i] = client(t, doors[i].URL(), deadline(500*time.Millisecond))
	}
	define(t, client(t, doors[0].URL()), table)
	return clients, doors
}

// storm changes the faults of every network until the context ends, each fault in its turn, and returns those never met.
func storm(ctx context.Context, t *testing.T, doors []*faultproxy.Proxy, seed uint64) {
	t.Helper()
	var group sync.WaitGroup
	for i, d := range doors {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for n := i; ctx.Err() == nil; n++ {
				faults := faultproxy.Faults()
				d.Set(faultproxy.Draw(rng, faults[n%len(faults)]))
				pause(ctx, time.Duration(300+rng.IntN(500))*time.Millisecond)
				d.Set(faultproxy.Conditions{})
				pause(ctx, time.Duration(rng.IntN(300))*time.Millisecond)
			}
			d.Set(faultproxy.Conditions{})
		})
	}
	group.Wait()
	for _, f := range faultproxy.Faults() {
		met := 0
		for _, d := range doors {
			met += d.Met(f)
		}
		if met == 0 {
			t.Errorf("no request has met the fault %v", f)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Under any faults the history is that of one register, with errors classified as they are: Offline calls never happened, Unknown calls may
// happen at any time, and refusals showed the register's value.
func TestHistoryUnderAnyFaults(t *testing.T) {
	clients, doors := behind(t, 4, 5, spec("events"))
	putItem(t, client(t, doors[0].URL()), item("reg", "v", attr.Int(0))) // the first request waits for Java to start
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	h := &history{start: time.Now()}
	var group sync.WaitGroup
	classes := make([]map[intent.Class]int, len(clients))
	for n, c := range clients {
		rng := rand.New(rand.NewPCG(9, uint64(n)))
		classes[n] = map[intent.Class]int{}
		group.Go(func() {
			seen := 0
			for i := 0; ctx.Err() == nil; i++ {
				seen = stormyCAS(t, c, h, n, seen, 1+n*100_000+i, rng, classes[n])
				pause(ctx, 20*time.Millisecond)
			}
		})
	}
	storm(ctx, t, doors, 5)
	group.Wait()
	all := map[intent.Class]int{}
	for _, m := range classes {
		for class, n := range m {
			all[class] += n
		}
	}
	t.Logf("%d calls: %v", len(h.ops), all)
	if got := porcupine.CheckOperationsTimeout(casModel(), h.ops, 10*time.Minute); got != porcupine.Ok {
		t.Errorf("the history of %d calls is %s", len(h.ops), got)
	}
	for _, class := range []intent.Class{intent.Applied, intent.ConditionFailed, intent.Unknown, intent.Offline} {
		if all[class] == 0 {
			t.Errorf("no call was %v", class)
		}
	}
}

func stormyCAS(t *testing.T, c *Client, h *history, client, seen, to int, rng *rand.Rand, classes map[intent.Class]int) int {
	begin := h.now()
	if rng.IntN(3) == 0 {
		it, err := c.Get(t.Context(), "events", item("reg"))
		if err != nil {
			return seen // a failed read has seen nothing
		}
		v, _ := it["v"].Int()
		h.add(client, begin, cas{read: true}, casOut{saw: int(v)}, false)
		return int(v)
	}
	_, err := c.Write(t.Context(), intent.Call{
		Op: store.OpUpdate, Table: "events", Key: item("reg"), Update: "SET v = :to", Condition: "v = :from",
		Params: expr.Params{Values: attr.Item{":from": attr.Int(int64(seen)), ":to": attr.Int(int64(to))}},
	})
	in := cas{from: seen, to: to}
	if err == nil {
		classes[intent.Applied]++
		h.add(client, begin, in, casOut{ok: true}, false)
		return to
	}
	e, ok := errors.AsType[*intent.Error](err)
	if !ok {
		t.Errorf("not sorted: %v", err)
		return seen
	}
	classes[e.Class]++
	switch e.Class {
	case intent.ConditionFailed:
		v, _ := e.Old["v"].Int()
		h.add(client, begin, in, casOut{saw: int(v)}, false)
		return int(v)
	case intent.Unknown:
		h.add(client, begin, in, casOut{lost: true}, true)
	case intent.Offline, intent.Throttled: // it never happened
	default:
		t.Errorf("%v", err)
	}
	return seen
}

// Under any faults at most one node believes it may work, and every holder's fence is above all earlier ones.
func TestLeasesUnderAnyFaults(t *testing.T) {
	clients, doors := behind(t, 3, 21, lockSpec())
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	h := &history{start: time.Now()}
	var group sync.WaitGroup
	for n, c := range clients {
		m, err := lease.New(lease.Config{
			Table: c.Locks("cricket-locks"), Node: fmt.Sprint("node", n), Boot: "b", TTL: 1500 * time.Millisecond, Skew: c.Skew,
		})
		if err != nil {
			t.Fatal(err)
		}
		running := make(chan struct{})
		stop, end := context.WithCancel(t.Context())
		go func() {
			defer close(running)
			_ = m.Run(stop)
		}()
		group.Go(func() {
			defer func() {
				end()
				<-running
			}()
			rng := rand.New(rand.NewPCG(21, uint64(n)))
			for ctx.Err() == nil {
				holdOnce(ctx, h, m, n, rng)
				pause(ctx, 50*time.Millisecond)
			}
		})
	}
	storm(ctx, t, doors, 21)
	group.Wait()
	if got := porcupine.CheckOperationsTimeout(heldModel(), h.ops, 10*time.Minute); got != porcupine.Ok || len(h.ops) < 10 {
		t.Errorf("the history of %d steps is %s", len(h.ops), got)
	}
	t.Logf("%d terms", len(h.ops)/2)
}

// holdOnce takes the lock if it can, and works under it for a while or until it is lost.
func holdOnce(ctx context.Context, h *history, m *lease.Manager, n int, rng *rand.Rand) {
	begin := h.now()
	l, err := m.Acquire(ctx, "match:1")
	if err != nil {
		return
	}
	name := fmt.Sprint("node", n)
	h.add(n, begin, lockOp{node: name}, l.Fence(), false)
	work, cancel := l.Context(ctx)
	defer cancel()
	// It worked until last. A node that stands still afterwards does nothing, and need not have ended later.
	last := begin
	for until := h.now() + int64(time.Duration(rng.IntN(3000))*time.Millisecond); work.Err() == nil; pause(work, 5*time.Millisecond) {
		now := h.now()
		if now >= until || l.Check() != nil {
			break
		}
		last = now
	}
	h.add(n, last, lockOp{node: name, release: true}, l.Fence(), false)
	_ = l.Release(context.WithoutCancel(ctx))
}

// heldModel tracks who works: a term begins when nobody else works.
func heldModel() porcupine.Model {
	m := lockModel()
	m.Step = func(state, input, output any) (bool, any) {
		s, in, fence := state.(lockState), input.(lockOp), output.(int64)
		if in.release {
			return s.holder == in.node, lockState{"", s.fence}
		}
		return s.holder == "" && fence > s.fence, lockState{in.node, fence}
	}
	return m
}
