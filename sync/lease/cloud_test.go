package lease_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
)

const (
	lock = "match:7"
	term = 10 * time.Second
)

// bubble is the clocks of a simulated machine, all in virtual time, with an error on the wall clock.
type bubble struct{ ahead time.Duration }

// Now implements lease.Times.
func (b bubble) Now() lease.Instant {
	passed := time.Since(time.Unix(946684800, 0)) // where a bubble's time begins
	return lease.Instant{Wall: time.Now().Add(b.ahead).Round(0), Mono: passed, Boot: passed}
}

// yard is a simulated cloud and the nodes that work under one of its locks.
type yard struct {
	*testing.T
	cloud   *simcloud.Cloud
	net     *simcloud.Network
	mu      sync.Mutex
	working map[string]*lease.Lease // the lease each node believes it holds
	writers map[int64]string        // by fence: whose write was accepted
	fences  int64                   // the highest fence written
	done    int                     // writes accepted
}

func newYard(t *testing.T, seed uint64) *yard {
	cloud := simcloud.New(simcloud.Options{})
	key := func(name string) store.KeySpec {
		return store.KeySpec{Partition: store.KeyAttr{Name: name, Type: store.KeyString}}
	}
	cloud.Create(store.TableSpec{Name: "locks", Key: key("lockKey")}, store.TableSpec{Name: "items", Key: key("id")})
	return &yard{
		T: t, cloud: cloud, net: simcloud.NewNetwork(cloud, simcloud.NewTimer(), seed),
		working: map[string]*lease.Lease{}, writers: map[int64]string{},
	}
}

// live is a node that takes the lock whenever it can, works under it, and sometimes gives it back.
func (y *yard) live(ctx context.Context, name string, link *simcloud.Link, clocks bubble, random *rand.Rand) {
	m, err := lease.New(lease.Config{
		Table: link.Locks("locks"), Node: name, Boot: "b", TTL: term, Times: clocks,
		Skew: func() time.Duration { return -clocks.ahead },
	})
	if err != nil {
		y.Error(err)
		return
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.Run(running)
	}()
	for ctx.Err() == nil {
		if l, err := m.Acquire(ctx, lock); err == nil {
			y.work(ctx, name, l, link, random)
		}
		rest(ctx, time.Duration(500+random.IntN(1000))*time.Millisecond)
	}
	stop()
	<-ended
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// work writes an item under the fence until the lease is over. If a higher fence refuses a write, it raises the lock's.
func (y *yard) work(ctx context.Context, name string, l *lease.Lease, link *simcloud.Link, random *rand.Rand) {
	y.believe(name, l)
	defer y.believe(name, nil)
	for ctx.Err() == nil && l.Check() == nil {
		y.alone(name)
		within, enough := context.WithTimeout(ctx, 2*time.Second)
		held, cancel := l.Context(within)
		fence := l.Fence()
		_, err := link.Write(held, intent.Call{
			Op: store.OpUpdate, Table: "items", Key: attr.Item{"id": attr.S("x")},
			Update: "SET #f = :f, #by = :by", Condition: "attribute_not_exists(#f) OR #f <= :f",
			Params: expr.Params{Names: map[string]string{"#f": "_f", "#by": "by"}, Values: attr.Item{":f": attr.Int(fence), ":by": attr.S(name)}},
		})
		if e, ok := err.(*intent.Error); ok && e.Class == intent.ConditionFailed { //nolint:errorlint // a Cloud gives no other
			above, _ := e.Old["_f"].Int()
			_ = l.RaiseFence(held, above)
		}
		cancel()
		enough()
		if random.IntN(200) == 0 {
			_ = l.Release(ctx)
		}
		rest(ctx, time.Duration(100+random.IntN(400))*time.Millisecond)
	}
}

// believe records whether a node believes it holds the lock.
func (y *yard) believe(name string, l *lease.Lease) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.working[name] = l
}

// alone checks that no other node believes it may work.
func (y *yard) alone(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for other, l := range y.working {
		if other != name && l != nil && l.Check() == nil {
			y.Errorf("%s and %s work at once at %s", name, other, time.Now())
		}
	}
}

// judge checks what the cloud accepted.
func (y *yard) judge() {
	for _, e := range y.cloud.Log(0) {
		if e.Table != "items" {
			continue
		}
		fence, _ := e.New["_f"].Int()
		by := e.New["by"].Str()
		if fence < y.fences {
			y.Errorf("fence %d was taken after %d", fence, y.fences)
		}
		if had := y.writers[fence]; had != "" && had != by {
			y.Errorf("%s and %s wrote under fence %d", had, by, fence)
		}
		y.fences, y.writers[fence] = fence, by
		y.done++
	}
}

// The locks table in the cloud is restored to yesterday while a holder of today works. Another node takes the lock at once, because
// yesterday's holder had released it, and its fence is above that of today's holder, whose writes are refused from then on. The node that saw
// today's fence reports that it went back.
func TestLocksTableRestoredInTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 1)
		ctx := t.Context()
		manager := func(name string) (*lease.Manager, *simcloud.Link) {
			link := y.net.Link(name, time.Now, nil)
			m, err := lease.New(lease.Config{Table: link.Locks("locks"), Node: name, Boot: "b", TTL: term, Times: bubble{}, Skew: link.Skew})
			if err != nil {
				t.Fatal(err)
			}
			return m, link
		}
		hold := func(m *lease.Manager) *lease.Lease {
			l, err := m.Acquire(ctx, lock)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		write := func(link *simcloud.Link, l *lease.Lease, by string) error {
			_, err := link.Write(ctx, intent.Call{
				Op: store.OpUpdate, Table: "items", Key: attr.Item{"id": attr.S("x")},
				Update: "SET #f = :f, #by = :by", Condition: "attribute_not_exists(#f) OR #f <= :f",
				Params: expr.Params{Names: map[string]string{"#f": "_f", "#by": "by"}, Values: attr.Item{":f": attr.Int(l.Fence()), ":by": attr.S(by)}},
			})
			return err
		}
		first, _ := manager("first")
		todays, todaysLink := manager("todays")
		next, nextLink := manager("next")
		if err := hold(first).Release(ctx); err != nil {
			t.Fatal(err)
		}
		yesterday := time.Now()
		rest(ctx, 24*time.Hour)
		today := hold(todays)
		if err := write(todaysLink, today, "todays"); err != nil {
			t.Fatal(err)
		}
		if node, err := next.Holder(ctx, lock); err != nil || node != "todays" {
			t.Fatalf("the holder is %q, %v", node, err)
		}
		rest(ctx, 2*time.Second)
		y.cloud.Restore(yesterday, "locks")
		taken := hold(next)
		if err := write(nextLink, taken, "next"); err != nil {
			t.Errorf("the new holder is refused: %v", err)
		}
		if err := write(todaysLink, today, "todays"); err == nil {
			t.Error("today's holder still writes")
		}
		if _, err := todays.Raise(ctx, lock, taken.Fence()); err == nil {
			t.Error("today's holder has raised the lock of another")
		}
		y.judge()
		if len(next.FallenLocks()) != 1 || len(todays.FallenLocks()) > 0 || len(first.FallenLocks()) > 0 {
			t.Errorf("reported by those who saw it: %+v, %+v, %+v", next.FallenLocks(), todays.FallenLocks(), first.FallenLocks())
		}
	})
}

// Leases over the cloud's table. Requests and answers get lost, come late and twice, and the machines' clocks are hours apart. Still nobody
// works beside the holder, writes under an old fence are refused, and work goes on once all is well.
func TestOverASimulatedCloud(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, seed)
			ctx, end := context.WithCancel(t.Context())
			var links []*simcloud.Link
			var ended []chan struct{}
			for i := range 3 {
				name := fmt.Sprint("node", i)
				clocks := bubble{ahead: time.Duration(i-1) * time.Hour}
				link := y.net.Link(name, time.Now, nil)
				link.SetRate(60)
				links = append(links, link)
				done := make(chan struct{})
				ended = append(ended, done)
				go func() {
					defer close(done)
					y.live(ctx, name, link, clocks, rand.New(rand.NewPCG(seed, uint64(i))))
				}()
				synctest.Wait()
			}
			modes := simcloud.Modes()
			for i := range 20 { // faults of one node at a time
				link := links[(int(seed)+i)%3]
				link.SetMode(modes[(int(seed)*7+i)%len(modes)])
				rest(ctx, 15*time.Second)
				link.SetMode(simcloud.None)
				rest(ctx, 15*time.Second)
			}
			for _, link := range links {
				link.Heal()
			}
			healed := y.cloud.Log(0)
			rest(ctx, 3*term)
			if n := len(y.cloud.Log(0)) - len(healed); n < 20 {
				t.Errorf("seed %d: %d writes after all is well", seed, n)
			}
			end()
			for _, done := range ended {
				<-done
			}
			y.judge()
			if y.done < 200 {
				t.Errorf("seed %d: only %d writes were taken", seed, y.done)
			}
		})
	}
}
