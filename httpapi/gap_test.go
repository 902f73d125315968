package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

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
