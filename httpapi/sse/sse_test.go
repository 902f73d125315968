package sse

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Whatever arrives in whatever order: frames are taken in order, no event is missing unless a snapshot is due, and of each slot the
// newest is there.
func TestInbox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sub := NewSubscriber(false)
		events, newest := map[uint64]bool{}, map[string]uint64{}
		seq := uint64(0)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 2*maxPending).Draw(t, "frames") {
				seq++
				f := Frame{Name: "event", Seq: seq}
				if slot := rapid.SampledFrom([]string{"", "", "d", "c1"}).Draw(t, "slot"); slot != "" {
					f.Slot, newest[slot] = slot, seq
				} else {
					events[seq] = true
				}
				sub.Offer(f)
			}
			frames, lost := sub.TakeFrames()
			if lost != (len(events) > maxPending) {
				t.Fatalf("lost %v with %d events", lost, len(events))
			}
			last := uint64(0)
			for _, f := range frames {
				if f.Seq <= last {
					t.Fatalf("%d after %d", f.Seq, last)
				}
				last = f.Seq
				if f.Slot != "" && newest[f.Slot] != f.Seq {
					t.Fatalf("%s at %d, newest is %d", f.Slot, f.Seq, newest[f.Slot])
				}
				delete(events, f.Seq)
			}
			if !lost && len(events) > 0 {
				t.Fatalf("%d events are missing", len(events))
			}
			clear(events)
			clear(newest)
		}
	})
}

// Waiting and later frames are those that concern the reader now.
func TestInboxOfSome(t *testing.T) {
	sub := NewSubscriber(false)
	seq := uint64(0)
	offer := func(of ...string) {
		for _, one := range of {
			seq++
			sub.Offer(Frame{Name: "event", Seq: seq, Of: one}, Frame{Name: "state", Seq: seq, Of: one, Slot: one})
		}
	}
	want := func(of ...string) {
		t.Helper()
		frames, _ := sub.TakeFrames()
		var got []string
		for _, f := range frames {
			got = append(got, f.Of)
		}
		if !slices.Equal(got, of) {
			t.Errorf("%v, want %v", got, of)
		}
	}
	offer("a", "b")
	want("a", "a", "b", "b")
	offer("a", "b")
	sub.RestrictTo([]string{"b"})
	offer("a", "b", "")
	sub.Sig.Clear()
	offer("a")
	select {
	case <-sub.Sig.C():
		t.Error("woken for nothing")
	default:
	}
	want("b", "b", "b")
	sub.RestrictTo(nil)
	offer("b")
	want()
}

// noted returns a broadcaster over a store with matches: a write of one is a frame on topic t of application a.
func noted(t *testing.T, o store.Options, c clock.Clock, read func()) (b *Broadcaster, note func()) {
	o.NoSync = true
	s := storetest.OpenWith(t, t.TempDir()+"/s.db", o, storetest.Matches())
	b = NewBroadcaster(s, c, slog.New(slog.DiscardHandler), func(r *store.Record) []Announced {
		read()
		return []Announced{{App: "a", Change: Change{Topic: "t", Frame: NewFrame("note", r.Seq, []byte("{}"))}}}
	})
	return b, func() { storetest.Put(t, s, "matches", storetest.Item("match", "final")) }
}

// If the journal is trimmed faster than the broadcaster reads, every stream starts over, whether later records remain or not.
func TestBroadcasterNoticesAGap(t *testing.T) {
	now := time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)
	for name, o := range map[string]store.Options{"some": {Now: func() time.Time { return now }}, "all": {JournalBytes: 1}} {
		t.Run(name, func(t *testing.T) {
			b, note := noted(t, o, clock.Real(), func() {})
			sub, leave := b.Subscribe(Topic{"a", "t"}, false)
			defer leave()
			other, leaveOther := b.Subscribe(Topic{"b", "t"}, false)
			defer leaveOther()
			note()
			now = now.Add(25 * time.Hour) // past the journal's age
			note()
			b.pump(t.Context())
			if _, lost := sub.TakeFrames(); !lost {
				t.Error("a record is missing and nobody was told")
			}
			other.TakeFrames()
			if name == "all" {
				return
			}
			note()
			b.pump(t.Context())
			if frames, lost := sub.TakeFrames(); lost || len(frames) != 1 {
				t.Errorf("afterwards %d frames came, lost %v", len(frames), lost)
			}
			if frames, lost := other.TakeFrames(); lost || len(frames) != 0 {
				t.Errorf("another application's topic of the same name got %d frames, lost %v", len(frames), lost)
			}
		})
	}
}

// Records written and trimmed before the first stream opened are no gap: streams do not start over.
func TestBroadcasterBeginsAtTheEnd(t *testing.T) {
	now := time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)
	b, note := noted(t, store.Options{Now: func() time.Time { return now }}, clock.Real(), func() {})
	for range 2 {
		note()
		now = now.Add(25 * time.Hour) // past the journal's age
	}
	for range 2 {
		sub, leave := b.Subscribe(Topic{"a", "t"}, false)
		defer leave()
		b.pump(t.Context())
		note()
		b.pump(t.Context())
		if frames, lost := sub.TakeFrames(); lost || len(frames) != 1 {
			t.Errorf("%d frames, lost %v", len(frames), lost)
		}
	}
}

// Without readers the journal is not read, and time on a stepped clock advances.
func TestIdleBroadcaster(t *testing.T) {
	steps := clock.NewStepped(time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC))
	var reads atomic.Int64
	b, note := noted(t, store.Options{}, steps, func() { reads.Add(1) })
	leave, left := steps.Join(), steps.Join()
	ctx, stop := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() {
		defer left()
		b.Run(ctx)
	})
	for range 50 {
		note()
		if err := clock.Sleep(ctx, steps, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	stop()
	loop.Wait()
	if n := reads.Load(); n > 0 {
		t.Errorf("%d records were read", n)
	}
}
