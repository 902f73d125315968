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

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
)

// history records calls for the linearizability checker. A call whose answer was lost may take effect at any later time.
type history struct {
	mu    sync.Mutex
	start time.Time
	ops   []porcupine.Operation
}

func (h *history) now() int64 { return int64(time.Since(h.start)) }

func (h *history) add(client int, call int64, in, out any, lost bool) {
	end := h.now()
	if lost {
		end = int64(time.Hour)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

// cas is a conditional write of a register, or a read of it.
type cas struct {
	read     bool
	from, to int
}

type casOut struct {
	ok, lost bool
	saw      int // the result of a read, or what a refusal showed (ALL_OLD)
}

func casModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			s, in, out := state.(int), input.(cas), output.(casOut)
			switch {
			case out.lost && s == in.from:
				return true, in.to // applied; not applied is covered by placing it at the end
			case out.lost:
				return true, s
			case in.read:
				return out.saw == s, s
			case out.ok:
				return s == in.from, in.to
			}
			return s != in.from && out.saw == s, s
		},
	}
}

// Conditional writes and reads by several clients, some with lost answers, behave like those of one register, including what refusals
// show.
func TestConditionalWritesAreLinearizable(t *testing.T) {
	c := local(t)
	define(t, c, spec("events"))
	putItem(t, c, item("reg", "v", attr.Int(0)))
	h := &history{start: time.Now()}
	var group sync.WaitGroup
	for n := range 5 {
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		group.Go(func() {
			seen := 0
			for i := range 60 {
				seen = oneCAS(t, c, h, n, seen, 1+n*1000+i, rng)
			}
		})
	}
	group.Wait()
	if got := porcupine.CheckOperationsTimeout(casModel(), h.ops, 10*time.Minute); got != porcupine.Ok {
		t.Errorf("the history of %d calls is %s", len(h.ops), got)
	}
}

// oneCAS makes a call and returns the value the register was last seen to hold.
func oneCAS(t *testing.T, c *Client, h *history, client, seen, to int, rng *rand.Rand) int {
	begin := h.now()
	if rng.IntN(4) == 0 {
		it, err := c.Get(t.Context(), "events", item("reg"))
		if err != nil {
			t.Error(err)
			return seen
		}
		v, _ := it["v"].Int()
		h.add(client, begin, cas{read: true}, casOut{saw: int(v)}, false)
		return int(v)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := c.Write(ctx, intent.Call{
		Op: store.OpUpdate, Table: "events", Key: item("reg"), Update: "SET v = :to", Condition: "v = :from",
		Params: expr.Params{Values: attr.Item{":from": attr.Int(int64(seen)), ":to": attr.Int(int64(to))}},
	})
	in := cas{from: seen, to: to}
	if err == nil {
		lost := rng.IntN(8) == 0 // as if the answer had not arrived
		h.add(client, begin, in, casOut{ok: true, lost: lost}, lost)
		return to
	}
	e, _ := errors.AsType[*intent.Error](err)
	if e == nil || e.Class != intent.ConditionFailed {
		t.Error(err)
		return seen
	}
	v, _ := e.Old["v"].Int()
	h.add(client, begin, in, casOut{saw: int(v)}, false)
	return int(v)
}

// lockOp is an operation on a lock, whose state is its fence and holder.
type lockOp struct {
	node    string
	release bool
}

type lockState struct {
	holder string
	fence  int64
}

func lockModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return lockState{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, fence := state.(lockState), input.(lockOp), output.(int64)
			switch {
			case in.release:
				return s.holder == in.node && s.fence == fence, lockState{"", s.fence}
			case fence == 0: // refused: another node holds it
				return s.holder != "" && s.holder != in.node, s
			}
			// Taken: nobody held it, and the fence is above all earlier ones.
			return s.holder == "" && fence > s.fence, lockState{in.node, fence}
		},
	}
}

// Nodes that take and release one lock in DynamoDB as fast as they can hold it one after the other.
func TestLeasesAreLinearizable(t *testing.T) {
	c := local(t)
	define(t, c, lockSpec())
	h := &history{start: time.Now()}
	var group sync.WaitGroup
	for n := range 4 {
		name := fmt.Sprint("node", n)
		m, err := lease.New(lease.Config{Table: c.Locks("cricket-locks"), Node: name, Boot: "b", TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for range 40 {
				begin := h.now()
				l, err := m.Acquire(t.Context(), "match:1")
				if _, held := errors.AsType[*lease.HeldError](err); held {
					h.add(n, begin, lockOp{node: name}, int64(0), false)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				h.add(n, begin, lockOp{node: name}, l.Fence(), false)
				begin, fence := h.now(), l.Fence()
				if err := l.Release(t.Context()); err != nil {
					t.Error(err)
					return
				}
				h.add(n, begin, lockOp{node: name, release: true}, fence, false)
			}
		})
	}
	group.Wait()
	taken := 0
	for _, op := range h.ops {
		if op.Input.(lockOp).release {
			taken++
		}
	}
	if got := porcupine.CheckOperationsTimeout(lockModel(), h.ops, 10*time.Minute); got != porcupine.Ok || taken < 20 {
		t.Errorf("the history of %d calls, %d of them successes, is %s", len(h.ops), taken, got)
	}
}
