package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// The parts of a process work under one lease, which ends with the last of them.
func TestPool(t *testing.T) {
	w := newWorld(t)
	p := NewPool(w.node("a").Manager)
	one, two := p.User(), p.User()
	if two.Has(match) != nil {
		t.Fatal("a share of a lock that nobody has taken")
	}
	first, err := one.AcquireShare(t.Context(), match)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	again, _ := one.AcquireShare(t.Context(), match)
	second := two.Has(match)
	if again != first || second == nil || second.Fence() != first.Fence() {
		t.Fatalf("shares %v, %v, %v", first, again, second)
	}
	other := NewPool(w.node("b").Manager)
	if s, err := other.User().AcquireShare(t.Context(), match); s != nil || err != nil {
		t.Fatalf("another node has it: %v, %v", s, err)
	}
	if node, err := other.Holder(t.Context(), match); node != "a" || err != nil {
		t.Errorf("held by %q, %v", node, err)
	}
	if !p.Has(match) || other.Has(match) {
		t.Errorf("Has: %t, on the other node %t", p.Has(match), other.Has(match))
	}
	for range 2 { // giving back twice counts once
		if err := first.Release(t.Context()); err != nil || second.Check() != nil {
			t.Fatalf("%v, %v", err, second.Check())
		}
	}
	if err := one.ReleaseShare(t.Context(), match); err != nil || !p.Has(match) {
		t.Fatalf("%v: it returned a share that it did not have", err)
	}
	if err := two.ReleaseShare(t.Context(), match); err != nil || second.Check() == nil || p.Has(match) {
		t.Fatalf("%v: the lease has not ended", err)
	}
	if node, err := other.Holder(t.Context(), match); node != "" || err != nil {
		t.Errorf("held by %q, %v", node, err)
	}
	if s, err := other.User().AcquireShare(t.Context(), match); s == nil || err != nil {
		t.Errorf("the lock is not free: %v", err)
	}
}

// A share of an expired lease is worthless. The next share belongs to a new lease, and releasing an old one does not affect it.
func TestPoolOfLostLease(t *testing.T) {
	w := newWorld(t)
	p := NewPool(w.node("a").Manager)
	one, two := p.User(), p.User()
	old, err := one.AcquireShare(t.Context(), match)
	if err != nil {
		t.Fatal(err)
	}
	kept := two.Has(match)
	w.pass(ttl)
	if s := one.Has(match); s != nil {
		t.Fatal("the share outlives its lease")
	}
	next, err := two.AcquireShare(t.Context(), match)
	if err != nil || next == nil || next.Fence() <= old.Fence() {
		t.Fatal(next, err)
	}
	for _, s := range []*Share{old, kept} {
		if err := s.Release(t.Context()); err != nil || next.Check() != nil {
			t.Errorf("%v, %v", err, next.Check())
		}
	}
	if s := one.Has(match); s == nil || s.Fence() != next.Fence() {
		t.Errorf("share %v", s)
	}
}

// The holder of a lock can be seen without taking it: a record that is unchanged for its TTL has no holder, and not before.
func TestHolderStandsStill(t *testing.T) {
	w := newWorld(t)
	w.node("a").acquire()
	b := w.node("b")
	for _, tt := range []struct {
		pass time.Duration
		want string
	}{{0, "a"}, {ttl - time.Second, "a"}, {time.Second, ""}} {
		w.pass(tt.pass)
		if node, err := b.Holder(t.Context(), match); node != tt.want || err != nil {
			t.Errorf("at %v: %q, %v", w.at(), node, err)
		}
	}
	b.acquire() // the time it was unchanged before counts
	w.put(attr.Item{attrHolder: attr.S("i-0123"), attrExpiresAt: attr.Int(epoch().Add(w.at() + time.Hour).UnixMilli())})
	if node, _ := b.Holder(t.Context(), match); node != "i-0123" {
		t.Errorf("held by %q", node)
	}
}

// The state that a lock guards is read again, under the lease, before anybody works under it. If that fails, the lock is released.
func TestTook(t *testing.T) {
	w := newWorld(t)
	var fences []int64
	fail := errors.New("the state cannot be read")
	a := w.node("a", func(_ *node, c *Config) {
		c.Took = func(ctx context.Context, key string, fence int64) error {
			if key != match || ctx.Err() != nil {
				t.Errorf("%s, %v", key, ctx.Err())
			}
			fences = append(fences, fence)
			return fail
		}
	})
	if _, err := a.Acquire(t.Context(), match); !errors.Is(err, fail) {
		t.Fatal(err)
	}
	fail = nil
	l := a.acquire() // at once: it was released
	if len(fences) != 2 || l.Fence() != fences[1] || fences[1] <= fences[0] {
		t.Errorf("fences %v, %d", fences, l.Fence())
	}
}

// Reading the state may outlast the lease; then nobody works under it.
func TestTookTooLong(t *testing.T) {
	w := newWorld(t)
	a := w.node("a", func(_ *node, c *Config) {
		c.Took = func(context.Context, string, int64) error { w.pass(ttl); return nil }
	})
	_, err := a.Acquire(t.Context(), match)
	if _, lost := errors.AsType[*LostError](err); !lost {
		t.Fatalf("%v", err)
	}
}

// The original application takes over a record of ours in place, so that our rvn stays in it, and renews it only through its expiry. It
// can be taken over only once the expiry has passed and the record has been unchanged for its TTL.
func TestTakenOverInPlace(t *testing.T) {
	w := newWorld(t)
	w.node("a").acquire()
	b := w.node("b")
	renew := func() {
		it := w.record()
		it[attrHolder], it[attrExpiresAt] = attr.S("i-0123"), attr.Int(epoch().Add(w.at()+20*time.Second).UnixMilli())
		w.put(it)
	}
	for range 8 {
		renew()
		b.refused()
		w.pass(ttl - time.Second)
	}
	renew()
	_, waited := b.waits()
	if waited < 20*time.Second || waited > 22*time.Second {
		t.Errorf("taken after %v", waited)
	}
}
