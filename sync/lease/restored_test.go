package lease

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// restore puts a record back, as the owner does who restores the locks table to an earlier time.
func (w *world) restore(it attr.Item) {
	w.Helper()
	w.put(maps.Clone(it))
}

// The locks table is restored to yesterday: whoever takes a lock then has a fence above that of every holder of today, also a node that saw
// none of them.
func TestLocksTableRestoredToYesterday(t *testing.T) {
	tests := []struct {
		name    string
		release bool // whether yesterday's holder had released the lock
	}{
		{"released yesterday", true},
		{"held yesterday", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			a, b, c := w.node("a"), w.node("b"), w.node("c")
			first := a.acquire()
			if tt.release {
				if err := first.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			yesterday := w.record()
			w.pass(24 * time.Hour)
			today, _ := b.waits()
			w.pass(time.Second)
			w.restore(yesterday)
			if err := today.renew(t.Context()); err == nil || today.Check() == nil {
				t.Error("today's holder goes on")
			}
			next, _ := c.waits()
			if next.Fence() <= today.Fence() {
				t.Errorf("a holder has fence %d after one of today had %d", next.Fence(), today.Fence())
			}
		})
	}
}

// A node whose clock says less than it did, and that does not know the server's, still takes no fence that it has seen: not one of its own,
// not one of another holder, not one on an item; and not after a restart either.
func TestFenceAboveThoseSeen(t *testing.T) {
	tests := []struct {
		name string
		see  func(w *world, me, other *node) (fence int64)
	}{
		{"its own", func(w *world, me, _ *node) int64 {
			l := me.acquire()
			w.pass(ttl)
			return l.Fence()
		}},
		{"its own, raised", func(w *world, me, _ *node) int64 {
			l := me.acquire()
			if err := l.RaiseFence(w.Context(), l.Fence()+5000); err != nil {
				w.Fatal(err)
			}
			w.pass(ttl)
			return l.Fence()
		}},
		{"another holder's", func(w *world, me, other *node) int64 {
			l := other.acquire()
			me.refused()
			return l.Fence()
		}},
		{"on an item", func(w *world, me, _ *node) int64 {
			fence := me.firstFence(me.Now()) + 7000
			if _, err := me.Raise(w.Context(), match, fence); err != nil {
				w.Fatal(err)
			}
			return fence
		}},
	}
	for _, tt := range tests {
		for _, restarted := range []bool{false, true} {
			t.Run(tt.name+map[bool]string{true: ", restarted"}[restarted], func(t *testing.T) {
				w := newWorld(t)
				me, other := w.node("me", remembers), w.node("other")
				old := me.acquire()
				if err := old.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				yesterday := w.record()
				w.pass(time.Hour)
				seen := tt.see(w, me, other)
				w.restore(yesterday)
				if restarted {
					me = w.node("me", remembers, boot("b2"))
				}
				me.wall = -2 * time.Hour
				me.skew = func() time.Duration { return 0 }
				if l, _ := me.waits(); l.Fence() <= seen {
					t.Errorf("fence %d, the node had seen %d", l.Fence(), seen)
				}
			})
		}
	}
}

// Fences of before the oldest time to which a cloud restores a table need not be remembered: the time gives higher ones.
func TestOldFencesAreForgotten(t *testing.T) {
	w := newWorld(t)
	a := w.node("a", remembers)
	l := a.acquire()
	w.pass(rememberFor - time.Hour)
	a.forgetOldFences(t.Context())
	if got, err := w.node("a", remembers).fences.recall(t.Context(), match); err != nil || got.row != l.Fence() {
		t.Errorf("remembered %+v, %v, want %d", got, err, l.Fence())
	}
	w.pass(2 * time.Hour)
	a.forgetOldFences(t.Context())
	if got, err := w.node("a", remembers).fences.recall(t.Context(), match); err != nil || got.row != 0 {
		t.Errorf("remembered %+v, %v, want nothing", got, err)
	}
}

// A record that went back is reported in words, logged and counted, once for each time; a record that was deleted or replaced by the
// original application is not one that went back.
func TestFallenFencesAreReported(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	logs := func(_ *node, c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) }
	a, b := w.node("a"), w.node("b", remembers, logs)
	l := a.acquire()
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	yesterday := w.record()
	w.pass(24 * time.Hour)
	a.acquire()
	b.refused()
	w.drop()
	if _, err := b.Holder(t.Context(), match); err != nil || len(b.FallenLocks()) > 0 {
		t.Errorf("a deleted record: %v, %v", b.FallenLocks(), err)
	}
	w.put(attr.Item{attrHolder: attr.S("orig"), attrExpiresAt: attr.Int(1)})
	if _, err := b.Holder(t.Context(), match); err != nil || len(b.FallenLocks()) > 0 {
		t.Errorf("a record without a fence: %v, %v", b.FallenLocks(), err)
	}
	w.restore(yesterday)
	for range 3 { // it stays the same fall
		if _, err := b.Holder(t.Context(), match); err != nil {
			t.Fatal(err)
		}
	}
	fallen := b.FallenLocks()
	if len(fallen) != 1 || fallen[0].Key != match || fallen[0].Fence != l.Fence() || fallen[0].Seen <= l.Fence() || b.Falls() != 1 {
		t.Fatalf("%+v, %d falls", fallen, b.Falls())
	}
	if n := strings.Count(log.String(), "went back"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	held := b.acquire()
	w.restore(yesterday)
	if err := held.renew(t.Context()); err == nil || b.Falls() != 2 {
		t.Errorf("renewed: %v; %d falls, want 2", err, b.Falls())
	}
	w.pass(fallenShown)
	if got := b.FallenLocks(); len(got) > 0 {
		t.Errorf("still shown after %v: %+v", fallenShown, got)
	}
}

// A read that was on its way while the node itself took the lock shows a lower fence: that is no record that went back.
func TestOvertakenReadIsNoFall(t *testing.T) {
	w := newWorld(t)
	a := w.node("a", remembers)
	l := a.acquire()
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Minute)
	a.link.Table = &overtakenRead{Table: a.link.Table, do: func() { a.acquire() }}
	if _, err := a.Holder(t.Context(), match); err != nil {
		t.Fatal(err)
	}
	if got := a.FallenLocks(); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// overtakenRead is a table whose next read answers only after something else was done.
type overtakenRead struct {
	Table
	do func()
}

// Get implements Table.
func (o *overtakenRead) Get(ctx context.Context, key string) (Record, bool, error) {
	r, exists, err := o.Table.Get(ctx, key)
	if do := o.do; do != nil {
		o.do = nil
		do()
	}
	return r, exists, err
}
