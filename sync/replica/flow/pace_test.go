package flow

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

func half() float64 { return 0.5 }

// A throttled table is sent less, and its full rate again once it is no longer throttled.
func TestPaceLearns(t *testing.T) {
	p := NewPaces(half)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for range 3000 { // 1000 a second
		if at := p.ReserveSend([]string{"t"}, now); at.After(now) {
			t.Fatal("a table that nobody throttled has to wait")
		}
		now = now.Add(time.Millisecond)
	}
	for range paceStreak {
		p.SlowTable("t", now)
	}
	first := rateOf(p, &now)
	if first < 500 || first > 800 {
		t.Errorf("after a throttle at 1000 a second: %d a second", first)
	}
	for range 20 {
		now = now.Add(time.Second)
		p.SlowTable("t", now)
	}
	if slowed := p.SlowedTables(now)["t"]; slowed.Throttled != 20+paceStreak || slowed.Rate < paceFloor || slowed.Rate > float64(first) {
		t.Errorf("after twenty more the status says %+v", slowed)
	}
	low := rateOf(p, &now)
	if low > first/10 || low < 1 {
		t.Errorf("after twenty more: %d a second", low)
	}
	for range 30 {
		p.RaiseRate("t", now)
		now = now.Add(time.Second)
	}
	if got := rateOf(p, &now); got <= low {
		t.Errorf("after half a minute of success: %d a second, before %d", got, low)
	}
	now = now.Add(2 * time.Minute)
	if got := rateOf(p, &now); got < 900 {
		t.Errorf("after two minutes of quiet: %d a second", got)
	}
	if slowed := p.SlowedTables(now); slowed["t"] != (Pace{Throttled: 20 + paceStreak}) || len(slowed) != 1 {
		t.Errorf("after two minutes of quiet the status says %+v", slowed)
	}
}

// A table that throttles a few of many sends keeps its rate; one that throttles a good part of them is sent less.
func TestFewThrottlesSlowNothing(t *testing.T) {
	for _, tt := range []struct {
		every int // which answer is a throttle
		slow  bool
	}{{2, true}, {4, true}, {10, false}, {17, false}} {
		p := NewPaces(half)
		now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		for i := range 600 { // ten a second
			for at := p.ReserveSend([]string{"t"}, now); at.After(now); at = p.ReserveSend([]string{"t"}, now) {
				now = at
			}
			if i%tt.every == tt.every-1 {
				p.SlowTable("t", now)
			} else {
				p.RaiseRate("t", now)
			}
			now = now.Add(100 * time.Millisecond)
		}
		if slowed := p.SlowedTables(now)["t"]; (slowed.Rate > 0) != tt.slow {
			t.Errorf("with every %dth answer a throttle: %.1f a second", tt.every, slowed.Rate)
		}
	}
}

// rateOf returns how many of a thousand sends requested within a second are allowed.
func rateOf(p *Paces, now *time.Time) (n int) {
	for range 1000 {
		if at := p.ReserveSend([]string{"t"}, *now); !at.After(*now) {
			n++
		}
		*now = now.Add(time.Millisecond)
	}
	return n
}

// Single sends try a stopped table from time to time.
func TestStoppedTable(t *testing.T) {
	p := NewPaces(half)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	if !p.Halt("t", "no table", "gone", now) || p.Halt("t", "no table", "gone", now) {
		t.Error("Halt must report a stop exactly once")
	}
	if at := p.ReserveSend([]string{"t"}, now); !at.After(now) {
		t.Error("a stopped table is sent to")
	}
	now = p.StoppedUntil([]string{"t"}, now)
	if at := p.ReserveSend([]string{"t"}, now); at.After(now) {
		t.Error("nobody may try")
	}
	if at := p.ReserveSend([]string{"t"}, now); !at.After(now) {
		t.Error("two try at once")
	}
	if len(p.StoppedTables()) != 1 {
		t.Error("the stopped table is not listed")
	}
	p.Takes([]string{"t"}, now)
	if at := p.ReserveSend([]string{"t"}, now); at.After(now) || len(p.StoppedTables()) != 0 {
		t.Error("the table has not resumed")
	}
	p.StopTable("t", "another table", "another", now)
	if p.Halt("t", "no table", "gone", now); !p.StoppedUntil([]string{"t"}, now).Equal(now.Add(holdFor)) {
		t.Error("an answer to an earlier request makes a replaced table due for a try")
	}
	if p.Takes([]string{"t"}, now); len(p.StoppedTables()) != 1 {
		t.Error("an answer to an earlier request releases a replaced table")
	}
}

// A transaction goes once all of its tables may be sent to, and does not stop tables that do not hold it up.
func TestPaceOfSeveralTables(t *testing.T) {
	p := NewPaces(half)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	both := []string{"a", "b"}
	p.StopTable("b", "another table", "another", now)
	if at := p.ReserveSend(both, now); !at.Equal(now.Add(holdFor)) || !p.StoppedUntil(both, now).Equal(at) {
		t.Errorf("with the second table stopped it may be sent at %v", at)
	}
	if at := p.ReserveSend([]string{"a"}, now); at.After(now) {
		t.Errorf("a write of only the first table may be sent at %v", at)
	}
	if !p.Release("b", "another table") || p.Release("b", "another table") {
		t.Error("Release must report a release exactly once")
	}
	for range paceStreak {
		p.SlowTable("b", now)
	}
	for p.ReserveSend(both, now).Equal(now) { // until the burst is used up
	}
	if at := p.ReserveSend([]string{"a"}, now); at.After(now) {
		t.Errorf("beside a throttled table a write of the other may be sent at %v", at)
	}
}

// A reconnect starts with one request at a time and doubles.
func TestSlowStart(t *testing.T) {
	n := NewLink(16, half)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	n.Begin(now)
	sigs := make([]*clock.Signal, 16)
	for i := range sigs {
		sigs[i] = clock.NewSignal()
	}
	enter := func() (n16 int) {
		for _, s := range sigs {
			if n.Enter(s) {
				n16++
			}
		}
		return n16
	}
	if enter() != 0 {
		t.Error("a worker may send before the cloud is there")
	}
	n.RecordProbe("", now)
	for _, want := range []int{1, 2, 4, 8, 16, 16} {
		if got := enter(); got != want {
			t.Fatalf("%d may send, want %d", got, want)
		}
		for range want {
			n.ReleasePermission(true)
		}
	}
	if !n.RecordLoss("gone", now) || n.RecordLoss("gone", now) {
		t.Error("Lost must report an outage exactly once")
	}
	var waits []time.Duration
	for range 40 {
		at, away := n.ProbeAt()
		if !away || enter() != 0 {
			t.Fatal("the cloud does not count as lost")
		}
		waits = append(waits, at.Sub(now))
		now = at
		n.RecordProbe("still gone", now)
	}
	if waits[0] > time.Second || waits[5] > 2*time.Second || waits[39] < 10*time.Second || waits[39] > 30*time.Second {
		t.Errorf("the probes come after %v", waits)
	}
	n.RecordProbe("", now)
	if got := enter(); got != 1 {
		t.Errorf("%d may send after the outage, want 1", got)
	}
}

// A worker that waits for its turn is woken when none sends, even if another one, woken by something else, went before it.
func TestTurnOutOfOrder(t *testing.T) {
	n := NewLink(1, half)
	n.RecordProbe("", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	first, second, third := clock.NewSignal(), clock.NewSignal(), clock.NewSignal()
	enter := func(sig *clock.Signal, want bool) {
		t.Helper()
		if n.Enter(sig) != want {
			t.Fatalf("it may send: %t, want %t", !want, want)
		}
	}
	enter(first, true)
	enter(second, false)
	enter(third, false)
	n.ReleasePermission(true)
	enter(third, true) // woken by a commit, before the second has looked
	second.Clear()
	enter(second, false)
	n.ReleasePermission(true)
	select {
	case <-second.C():
	default:
		t.Error("no worker sends, and one that wants to sleeps")
	}
}
