package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// gated is a connection whose other end does not read until the gate opens.
type gated struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	ahead  []time.Duration // distance of each deadline when it was set
	gate   chan struct{}   // nil: open
	stuck  chan struct{}   // closed when a write blocks
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
	if !at.IsZero() {
		g.ahead = append(g.ahead, time.Until(at))
	}
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

// pending is more events than may wait for a slow client.
const pending = 128

// running runs the server's broadcaster, and returns a function that waits until it has read the whole journal.
func running(t *testing.T, s *Server, f *counter) (readAll func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { s.events.Run(ctx) })
	t.Cleanup(func() { stop(); loop.Wait() })
	end, leave := s.events.Subscribe(sse.Topic{App: f.name, Name: "the end"}, false)
	t.Cleanup(leave)
	return func() {
		t.Helper()
		f.note("the end", 0)
		wait.Until(t, "the end of the journal", func() bool {
			frames, _ := end.TakeFrames()
			return len(frames) > 0
		})
	}
}

// A client that does not read blocks nobody; when it reads again it has missed states but no event.
func TestSlowClientIsGivenASnapshot(t *testing.T) {
	cfg, f := config(t)
	s := newServer(t, cfg)
	readAll := running(t, s, f)
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	t.Cleanup(func() { stop(); loops.Wait() })

	sub, leave := s.events.Subscribe(sse.Topic{App: "counter", Name: "c1"}, false)
	t.Cleanup(leave)
	g := &gated{header: http.Header{}}
	m := &topicStream{s: s, app: s.apps[0], topic: "c1", sub: sub, out: sse.New(g, clock.Real(), s.encoder)}
	loops.Go(func() { _ = m.run(ctx, nil) })
	wait.Until(t, "the first snapshot", func() bool { return strings.Contains(g.text(), "event: count") })

	stuck := g.close()
	f.count("c1", 4)
	<-stuck
	for n := range 2 * pending {
		f.note("c1", n)
	}
	f.count("c1", 77)
	readAll()

	before := len(g.text())
	g.open()
	wait.Until(t, "the newest state", func() bool { return strings.Contains(g.text()[before:], `{"n":77}`) })
	for n := range 2 * pending {
		if key := noteText(n); !strings.Contains(g.text()[before:], key) {
			t.Fatalf("%s is lost", key)
		}
	}
	if text := web.Ask(s.Handler(), "GET", "/metrics", "", "X-API-Key", "key").Body.String(); !strings.Contains(text, "\ntouchline_http_stream_snapshots_total 1\n") {
		t.Errorf("no snapshot for a client that lagged: the inbox has no bound: %.300s", text)
	}
	g.mu.Lock() // the stream continues
	defer g.mu.Unlock()
	for i, ahead := range g.ahead {
		if ahead > 10*time.Second || ahead < 0 {
			t.Errorf("deadline %d lies %s ahead", i, ahead)
		}
	}
}

// A client that never reads again is dropped after its write deadline.
func TestDeadClientEndsItsStream(t *testing.T) {
	cfg, _ := config(t)
	s := newServer(t, cfg)
	sub, leave := s.events.Subscribe(sse.Topic{App: "counter", Name: "c1"}, false)
	defer leave()
	g := &gated{header: http.Header{}, fail: os.ErrDeadlineExceeded}
	m := &topicStream{s: s, app: s.apps[0], topic: "c1", sub: sub, out: sse.New(g, clock.Real(), s.encoder)}
	if err := m.run(t.Context(), nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

// Frames replayed from the journal are not sent again from the inbox.
func TestNothingIsSentTwice(t *testing.T) {
	cfg, f := config(t)
	s := newServer(t, cfg)
	readAll := running(t, s, f)
	from := f.note("c1", 1)
	readAll()
	sub, leave := s.events.Subscribe(sse.Topic{App: "counter", Name: "c1"}, false)
	defer leave()
	f.note("c1", 2)
	f.note("c1", 3)
	readAll() // into the inbox, before the stream reads the journal
	g := &gated{header: http.Header{}}
	m := &topicStream{s: s, app: s.apps[0], topic: "c1", sub: sub, out: sse.New(g, clock.Real(), s.encoder)}
	if err := m.begin(t.Context(), &from); err != nil {
		t.Fatal(err)
	}
	f.note("c1", 4)
	readAll()
	frames, lost := sub.TakeFrames()
	if lost || len(frames) != 3 {
		t.Fatalf("%d frames in the inbox, lost %v", len(frames), lost)
	}
	if err := m.forward(frames); err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 4; n++ {
		if got := strings.Count(g.text(), noteText(n)); got != 1 {
			t.Errorf("note %d was sent %d times", n, got)
		}
	}
}

// Without a snapshot, commits before a stream's first turn are sent.
func TestNothingIsLostWithoutASnapshot(t *testing.T) {
	cfg, f := config(t)
	s := newServer(t, cfg)
	readAll := running(t, s, f)
	s.apps[0].Snapshot = nil
	sub, leave := s.events.Subscribe(sse.Topic{App: "counter", Name: "c1"}, false)
	defer leave()
	f.note("c1", 1)
	readAll()
	g := &gated{header: http.Header{}}
	m := &topicStream{s: s, app: s.apps[0], topic: "c1", sub: sub, out: sse.New(g, clock.Real(), s.encoder)}
	if err := m.begin(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	frames, _ := sub.TakeFrames()
	if err := m.forward(frames); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(g.text(), noteText(1)); got != 1 {
		t.Errorf("the note was sent %d times", got)
	}
}

// A client whose missed records were all trimmed gets a snapshot.
func TestReplayFromATrimmedJournal(t *testing.T) {
	cfg, f := configIn(t, storetest.OpenWith(t, t.TempDir()+"/s.db", store.Options{NoSync: true, JournalBytes: 1}))
	from := f.note("c1", 1)
	f.note("c1", 2) // both are trimmed at once
	if f.store.FirstSeq() != from+2 {
		t.Fatalf("the journal begins at %d", f.store.FirstSeq())
	}
	url, _ := start(t, cfg)
	s := web.Open(t, url+streamPath, map[string]string{"Last-Event-ID": strconv.FormatUint(from, 10)})
	if all := s.Until(web.Named(frameCount)); web.Names(all)[frameNote] != 2 {
		t.Errorf("no snapshot: %v", web.Names(all))
	}
}
