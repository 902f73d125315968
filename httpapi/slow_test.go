package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/hang"
)

// gated is a connection whose other end does not read until the gate opens.
type gated struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	ahead  []time.Duration // how far each deadline lay ahead when it was set
	gate   chan struct{}   // nil: open
	stuck  chan struct{}   // closed when a write waits
	fail   error
	header http.Header
}

func (g *gated) Header() http.Header { return g.header }
func (g *gated) WriteHeader(int)     {}
func (g *gated) Flush()              {}
func (g *gated) Write(p []byte) (int, error) {
	g.mu.Lock()
	gate := g.gate
	g.mu.Unlock()
	if gate != nil {
		select {
		case <-g.stuck:
		default:
			close(g.stuck)
		}
		<-gate
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fail != nil {
		return 0, g.fail
	}
	return g.buf.Write(p)
}
func (g *gated) SetReadDeadline(time.Time) error { return nil }
func (g *gated) SetWriteDeadline(at time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = append(g.ahead, time.Until(at))
	return nil
}

func (g *gated) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buf.String()
}

func (g *gated) close() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gate, g.stuck = make(chan struct{}), make(chan struct{})
	return g.stuck
}

func (g *gated) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.gate)
	g.gate = nil
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(hang.Limit(time.Minute))
	for !ok() {
		select {
		case <-end:
			t.Fatalf("never: %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

// A client that does not read holds up nobody; when it reads again it has lost single states and no event.
func TestSlowClientIsGivenASnapshot(t *testing.T) {
	cfg, f, in := config(t)
	s := newServer(t, cfg)
	ctx := t.Context()
	var loops sync.WaitGroup
	loops.Go(func() { s.hub.run(ctx) })
	t.Cleanup(loops.Wait)

	sub, leave := s.hub.subscribe(finalID, false)
	t.Cleanup(leave)
	g := &gated{header: http.Header{}}
	m := &matchStream{s: s, id: finalID, sub: sub, out: newSSE(g, clock.Real())}
	loops.Go(func() { _ = m.run(ctx, nil) })
	eventually(t, "the first snapshot", func() bool { return strings.Contains(g.text(), "event: display") })

	stuck := g.close()
	f.putDisplay(in.Display)
	<-stuck
	for n := range 2 * maxPending {
		f.putEvent(t, finalID, wicket(n))
	}
	d := in.Display
	d.Equation = "need 3 from 2"
	f.putDisplay(d)
	eventually(t, "the hub at the end of the journal", func() bool {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		return s.hub.cursor == f.Seq()
	})
	sub.mu.Lock()
	if len(sub.events) > maxPending || !sub.lost {
		t.Errorf("%d events wait, lost %v: the inbox has no bound", len(sub.events), sub.lost)
	}
	sub.mu.Unlock()

	before := len(g.text())
	g.open()
	eventually(t, "the newest state", func() bool { return strings.Contains(g.text()[before:], "need 3 from 2") })
	for n := range 2 * maxPending {
		if key := `"key":"` + wicket(n).Key + `"`; !strings.Contains(g.text()[before:], key) {
			t.Fatalf("%s is lost", key)
		}
	}
	g.mu.Lock() // the stream goes on
	defer g.mu.Unlock()
	for i, ahead := range g.ahead {
		if ahead > writeWithin || ahead < 0 {
			t.Errorf("deadline %d lies %s ahead", i, ahead)
		}
	}
}

// A client that never reads again is gone after its write deadline.
func TestDeadClientEndsItsStream(t *testing.T) {
	cfg, _, _ := config(t)
	s := newServer(t, cfg)
	sub, leave := s.hub.subscribe(finalID, false)
	defer leave()
	g := &gated{header: http.Header{}, fail: os.ErrDeadlineExceeded}
	m := &matchStream{s: s, id: finalID, sub: sub, out: newSSE(g, clock.Real())}
	if err := m.run(t.Context(), nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

// Whatever comes in whatever order: what is taken is in order, no event is missing unless a snapshot says so, and of
// each slot the newest is there.
func TestInbox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sub := newSubscriber(finalID, false)
		events, newest := map[uint64]bool{}, map[string]uint64{}
		seq := uint64(0)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 2*maxPending).Draw(t, "frames") {
				seq++
				f := frame{name: frameEvent, seq: seq}
				if slot := rapid.SampledFrom([]string{"", "", "d", "c1"}).Draw(t, "slot"); slot != "" {
					f.slot, newest[slot] = slot, seq
				} else {
					events[seq] = true
				}
				sub.offer(f)
			}
			frames, lost := sub.take()
			if lost != (len(events) > maxPending) {
				t.Fatalf("lost %v with %d events", lost, len(events))
			}
			last := uint64(0)
			for _, f := range frames {
				if f.seq <= last {
					t.Fatalf("%d after %d", f.seq, last)
				}
				last = f.seq
				if f.slot != "" && newest[f.slot] != f.seq {
					t.Fatalf("%s at %d, newest is %d", f.slot, f.seq, newest[f.slot])
				}
				delete(events, f.seq)
			}
			if !lost && len(events) > 0 {
				t.Fatalf("%d events are missing", len(events))
			}
			clear(events)
			clear(newest)
		}
	})
}

// A panic after the answer has begun cuts the connection: nobody takes half an answer for the whole.
func TestPanicInTheMiddleCutsTheConnection(t *testing.T) {
	cfg, f, _ := config(t)
	f.fixtures["panic2"] = cricket.Fixture{MatchID: "panic2"}
	url, _ := start(t, cfg)
	f.mu.Lock()
	f.panicOn = "panic2"
	f.mu.Unlock()
	resp, err := client(t).Get(url + "/cricket/matches/panic2/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := new(bytes.Buffer).ReadFrom(resp.Body); err == nil {
		t.Error("the stream ended as if it were whole")
	}
}
