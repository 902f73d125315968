package node_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// poisoned is a counter whose consumer cannot handle the records of some gates.
type poisoned struct {
	counter
	bad   atomic.Bool // gate#bad cannot be handled
	all   atomic.Bool // nor can the whole state
	mu    sync.Mutex
	taken []string // ids of the records that it handled
}

func (p *poisoned) app() *app.App {
	a := p.counter.app()
	open := a.Open
	a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
		in, err := open(ctx, h)
		if err == nil {
			in.Consumers[0].Take, in.Consumers[0].Anew = p.take, p.anew
		}
		return in, err
	}
	return a
}

func (p *poisoned) take(tx *store.Tx, records []store.Record) error {
	for i := range records {
		if id := records[i].Key["id"].Str(); id == "gate#bad" && p.bad.Load() {
			return errors.New("this gate is not known")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range records {
		p.taken = append(p.taken, records[i].Key["id"].Str())
	}
	return p.sum(tx)
}

func (p *poisoned) anew(tx *store.Tx) error {
	if p.all.Load() {
		return errors.New("this state is not known")
	}
	return p.sum(tx)
}

func (p *poisoned) has(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.taken, id)
}

// runFast runs a node in a directory, with a clock that is a hundred times as fast, until stop is called.
func runFast(t *testing.T, dir string, a *app.App) (base string, stop func()) {
	t.Helper()
	fast := clock.NewScaled(time.Now(), 100)
	n, err := node.Open(t.Context(), dir, node.Parts{Clock: fast, Log: slog.New(slog.DiscardHandler), Apps: []*app.App{a}, Auth: keyed})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return "http://" + ln.Addr().String(), stop
}

// begun waits until the consumer has processed the whole state for the first time.
func begun(t *testing.T, c *counter) {
	t.Helper()
	wait.Until(t, "the consumer has begun", func() (is bool) {
		_ = c.host.Store.View(t.Context(), func(tx *store.Tx) error {
			at, _, err := tx.Cursor("counter/total")
			is = at > 0
			return err
		})
		return is
	})
}

// A consumer that cannot handle a record leaves it out and goes on with the others. The record is counted and named, also after a restart, and
// tried again: once it can be handled it is named no more.
func TestConsumerLeavesOutARecord(t *testing.T) {
	p := &poisoned{}
	p.bad.Store(true)
	dir := t.TempDir()
	base, stop := runFast(t, dir, p.app())
	begun(t, &p.counter)
	for _, gate := range []string{"north", "bad", "south"} {
		if err := p.count(t.Context(), gate, 1); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "the records behind it are taken", func() bool { return p.has("gate#north") && p.has("gate#south") })
	if p.has("gate#bad") {
		t.Error("the bad record was taken")
	}
	skips := func(base string, n string) bool {
		_, body := ask(t, base+"/metrics")
		return strings.Contains(body, `touchline_consumer_skipped_records{application="counter",consumer="total"} `+n+"\n")
	}
	named := func(base string) bool {
		_, body := ask(t, base+"/statusz")
		_, hub := ask(t, base+"/_/hub")
		return strings.Contains(body, `"row":"gate#bad","consumer":"counter/total","why":"this gate is not known"`) &&
			strings.Contains(hub, "the consumer counter/total cannot handle its change: this gate is not known") && strings.Contains(hub, "1 change could not be worked on")
	}
	wait.Until(t, "it is counted and named", func() bool { return skips(base, "1") && named(base) })
	stop()
	base, _ = runFast(t, dir, p.app())
	wait.Until(t, "it is named after a restart", func() bool { return skips(base, "1") && named(base) })
	p.bad.Store(false)
	wait.Until(t, "it is tried again and forgotten", func() bool { return p.has("gate#bad") && skips(base, "0") && !named(base) })
}

// A consumer that cannot process the whole state goes on with the journal, and is named.
func TestConsumerCannotBegin(t *testing.T) {
	p := &poisoned{}
	p.all.Store(true)
	base, _ := runFast(t, t.TempDir(), p.app())
	if err := p.count(t.Context(), "north", 1); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it takes what comes", func() bool { return p.has("gate#north") })
	wait.Until(t, "it is named", func() bool {
		_, body := ask(t, base+"/statusz")
		return strings.Contains(body, `"row":"all rows","consumer":"counter/total","why":"this state is not known"`)
	})
	p.all.Store(false)
	wait.Until(t, "it begins after all", func() bool {
		_, body := ask(t, base+"/statusz")
		return !strings.Contains(body, "this state is not known")
	})
}

// A consumer does its work in slices: each is committed, and it is called again with the same records until it is through.
func TestConsumerInSlices(t *testing.T) {
	p := &poisoned{}
	a := p.counter.app()
	open := a.Open
	const times, work = 5, 7
	a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
		in, err := open(ctx, h)
		if err != nil {
			return in, err
		}
		in.Consumers[0].Anew = func(*store.Tx) error { return nil }
		in.Consumers[0].Take = func(tx *store.Tx, records []store.Record) error {
			if !slicesHave(records, "gate#go") {
				return nil
			}
			it, err := tx.Get(counts, total())
			done, _ := it["n"].Int()
			if err != nil || done == times*work {
				return err
			}
			for i := range int64(work) {
				if _, err := tx.Put(store.PutItem{Table: counts, Item: attr.Item{"id": attr.S("total"), "n": attr.Int(done + i + 1)}}); err != nil {
					return err
				}
			}
			return table.ErrMore
		}
		return in, nil
	}
	runFast(t, t.TempDir(), a)
	begun(t, &p.counter)
	if err := p.count(t.Context(), "go", 1); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "all slices are done", func() bool { return p.sumOf(t.Context()) == times*work })
	records, err := p.host.Store.Journal(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range records {
		if records[i].Key["id"].Str() == "total" {
			n++
		}
	}
	if n != times*work {
		t.Errorf("%d writes, want %d", n, times*work)
	}
}

func slicesHave(records []store.Record, id string) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Key["id"].Str() == id })
}
