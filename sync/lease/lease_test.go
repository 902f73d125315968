package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTermExpires(t *testing.T) {
	sent := Instant{Wall: epoch(), Mono: time.Hour, Boot: 2 * time.Hour}
	term := Term{Sent: sent, TTL: ttl}
	s, ms := time.Second, time.Millisecond
	tests := []struct {
		name             string
		wall, mono, boot time.Duration
		want             bool
	}{
		{"at once", 0, 0, 0, false},
		{"just before 0.7 TTL", 7*s - 1, 7*s - 1, 7*s - 1, false},
		{"at 0.7 TTL", 7 * s, 7 * s, 7 * s, true},
		{"by the wall clock alone", 7 * s, 7*s - 1, 7*s - 1, true},
		{"by the monotonic clock alone", 7*s - 1, 7 * s, 7*s - 1, true},
		{"by the boot clock alone: suspended", 7*s - 1, 7*s - 1, 7 * s, true},
		{"wall stepped forward by less than a second", 2*s + 999*ms, 2 * s, 2 * s, false},
		{"wall stepped forward by a second", 3 * s, 2 * s, 2 * s, true},
		{"wall stepped back by a second", s, 2 * s, 2 * s, true},
		{"wall stepped back by a day", -24 * time.Hour, s, s, true},
		{"suspended for long", time.Hour, s, time.Hour, true},
	}
	for _, tt := range tests {
		now := Instant{Wall: sent.Wall.Add(tt.wall), Mono: sent.Mono + tt.mono, Boot: sent.Boot + tt.boot}
		if got := term.Expired(now); got != tt.want {
			t.Errorf("%s: expired %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := term.Deadline(); !got.Equal(epoch().Add(7 * s)) {
		t.Errorf("deadline %v", got)
	}
}

func TestRealTimes(t *testing.T) {
	times := RealTimes()
	a, b := times.Now(), times.Now()
	if b.Mono < a.Mono || b.Boot < a.Boot || a.Boot <= 0 || time.Since(a.Wall).Abs() > time.Minute {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// The expressions, verbatim: they are the protocol between nodes of different versions.
func TestExpressions(t *testing.T) {
	w := newWorld(t)
	a := w.node("a")
	ms := epoch().UnixMilli()
	l := a.acquire()
	if err := l.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.RaiseFence(t.Context(), l.Fence()+500); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.put(attr.Item{attrHolder: attr.S("b#1"), attrExpiresAt: attr.Int(ms), attrRVN: attr.S("x"), attrFence: attr.Int(7)})
	a.waits()
	w.put(attr.Item{attrHolder: attr.S("orig"), attrExpiresAt: attr.Int(ms)})
	w.pass(ttl) // the lease expires
	a.waits()
	want := [][2]string{
		{"SET holder = :me, expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :none, fence = :fence",
			"attribute_not_exists(lockKey) OR (expiresAt = :zero AND (attribute_not_exists(fence) OR fence = :was))"},
		{"SET expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :n",
			"holder = :me AND fence = :f AND (attribute_not_exists(renewals) OR renewals < :n)"},
		{"SET fence = :to, rvn = :rvn", "holder = :me AND fence = :f"},
		{"SET expiresAt = :zero, rvn = :rvn", "holder = :me AND fence = :f"},
		{"SET holder = :me, expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :none, fence = :fence",
			"rvn = :seen AND holder = :h AND expiresAt = :e AND (attribute_not_exists(fence) OR fence = :was)"},
		{"SET holder = :me, expiresAt = :expires, rvn = :rvn, ttlMs = :ttl, renewals = :none, fence = :fence",
			"attribute_not_exists(rvn) AND expiresAt < :now AND expiresAt = :seen AND holder = :h AND (attribute_not_exists(fence) OR fence = :was)"},
	}
	var got [][2]string
	for _, c := range a.link.sent {
		got = append(got, [2]string{c.Update, c.Condition})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecord(t *testing.T) {
	w := newWorld(t)
	w.pass(1500 * time.Millisecond)
	l := w.node("a", ahead(time.Hour)).acquire()
	got, err := ParseRecord(w.record())
	if err != nil {
		t.Fatal(err)
	}
	ms := epoch().UnixMilli() + 1500 // by the server's clock, not the node's
	want := Record{Key: match, Holder: "a#b1", ExpiresAt: ms + 10000, Fence: l.Fence(), RVN: "rvn1", TTL: ttl}
	if got != want || l.Fence()/1000 != ms || l.Key() != match {
		t.Errorf("record %+v, want %+v; fence %d", got, want, l.Fence())
	}
	for name, it := range map[string]attr.Item{
		"no expiry": {attrHolder: attr.S("x")}, "no holder": {attrExpiresAt: attr.Int(1)},
		"expiry as text":  {attrHolder: attr.S("x"), attrExpiresAt: attr.S("soon")},
		"a fence of text": {attrHolder: attr.S("x"), attrExpiresAt: attr.Int(1), attrFence: attr.S("7")},
	} {
		if _, err := ParseRecord(it); !fault.Is(err, fault.Damaged) {
			t.Errorf("%s: %v", name, err)
		}
		w.put(it)
		if _, err := w.node("b").Acquire(t.Context(), match); !fault.Is(err, fault.Damaged) {
			t.Errorf("acquire, %s: %v", name, err)
		}
	}
}

// A holder renews while another waits; then the holder falls silent.
func TestTakeover(t *testing.T) {
	tests := []struct {
		name   string
		holder time.Duration // how far its clock is ahead
		taker  time.Duration
	}{
		{"right clocks", 0, 0},
		{"the dead holder's clock is an hour ahead", time.Hour, 0},
		{"the dead holder's clock is an hour behind", -time.Hour, 0},
		{"the taker's clock is an hour ahead", 0, time.Hour},
		{"the taker's clock is at 1970", 0, -epoch().Sub(time.Unix(0, 0))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			a, b := w.node("a", ahead(tt.holder)), w.node("b", ahead(tt.taker))
			l := a.acquire()
			for range 20 {
				w.pass(ttl / 3)
				if err := l.renew(t.Context()); err != nil {
					t.Fatal(err)
				}
				if held := b.refused(); held.Holder != "a#b1" {
					t.Errorf("held by %s", held.Holder)
				}
			}
			second, waited := b.waits()
			if waited < ttl || waited > ttl+time.Second {
				t.Errorf("taken after %v, want a TTL from the first read of the last renewal", waited)
			}
			if l.Check() == nil || second.Fence() != b.firstFence(b.Now()) {
				t.Errorf("first: %v; fence %d, want that of the time, %d", l.Check(), second.Fence(), b.firstFence(b.Now()))
			}
			if err := l.renew(t.Context()); err == nil {
				t.Error("the first one renewed")
			}
		})
	}
}

// A record that changes is alive, whatever its expiry says.
func TestStandstillCountsFromTheLastChange(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	b.refused()
	w.pass(6 * time.Second)
	if err := l.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.pass(5 * time.Second) // 11 s since the first read, 5 s since the change
	if held := b.refused(); held.Retry != ttl {
		t.Errorf("retry in %v, want %v: it is first seen like this now", held.Retry, ttl)
	}
	w.pass(4 * time.Second)
	if held := b.refused(); held.Retry != 6*time.Second {
		t.Errorf("retry in %v, want 6s", held.Retry)
	}
}

// A record of the original application has no rvn: its expiry must have passed, and it must stand still.
func TestForeignRecord(t *testing.T) {
	w := newWorld(t)
	b := w.node("b")
	expires := epoch().Add(30 * time.Second).UnixMilli()
	w.put(attr.Item{attrHolder: attr.S("orig"), attrExpiresAt: attr.Int(expires)})
	b.refused()
	w.pass(25 * time.Second) // it has stood still long enough, but has not expired
	if held := b.refused(); held.Retry != 5*time.Second || len(b.link.sent) != 0 {
		t.Errorf("retry in %v after %d requests", held.Retry, len(b.link.sent))
	}
	w.put(attr.Item{attrHolder: attr.S("orig"), attrExpiresAt: attr.Int(expires + 5000)}) // extended
	w.pass(9 * time.Second)
	b.refused()
	l, waited := b.waits()
	if waited < ttl || waited > ttl+time.Second {
		t.Errorf("taken after %v", waited)
	}
	if now := epoch().Add(w.at()).UnixMilli(); l.Fence()/1000 != now {
		t.Errorf("fence %d, want it to begin at the time %d", l.Fence(), now)
	}
}

func TestSuspended(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	ctx, cancel := l.Context(t.Context())
	defer cancel()
	b.refused()
	a.suspend(10 * time.Minute)
	second := b.acquire()
	if err := l.Check(); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the suspension: %v", err)
	}
	<-ctx.Done()
	if _, lost := errors.AsType[*LostError](context.Cause(ctx)); !lost {
		t.Errorf("the work ended with %v", ctx.Err())
	}
	if second.Fence() <= l.Fence() || second.Check() != nil {
		t.Errorf("fences %d and %d, %v", l.Fence(), second.Fence(), second.Check())
	}
}
