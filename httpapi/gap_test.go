package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/clock"
)

// What a stream replayed is not sent again because it lay in its inbox as well.
func TestNothingIsSentTwice(t *testing.T) {
	cfg, f, _ := config(t)
	s := newServer(t, cfg)
	from := f.putEvent(t, finalID, wicket(1))
	sub, leave := s.hub.subscribe(finalID, false)
	defer leave()
	f.putEvent(t, finalID, wicket(2))
	f.putEvent(t, finalID, wicket(3))
	s.hub.pump(t.Context()) // into the inbox, before the stream reads the journal
	g := &gated{header: http.Header{}}
	m := &matchStream{s: s, id: finalID, sub: sub, out: newSSE(g, clock.Real())}
	if err := m.begin(t.Context(), &from); err != nil {
		t.Fatal(err)
	}
	f.putEvent(t, finalID, wicket(4))
	s.hub.pump(t.Context())
	frames, lost := sub.take()
	if lost || len(frames) != 3 {
		t.Fatalf("%d frames in the inbox, lost %v", len(frames), lost)
	}
	if err := m.forward(frames); err != nil {
		t.Fatal(err)
	}
	for _, id := range []uint64{2, 3, 4} {
		if n := strings.Count(g.text(), "id: "+seqID(id)+"\n"); n != 1 {
			t.Errorf("%d was sent %d times", id, n)
		}
	}
}

// A client that comes back after all it missed was trimmed is not told that it missed nothing.
func TestReplayFromATrimmedJournal(t *testing.T) {
	cfg, f, in := config(t)
	from := f.putEvent(t, finalID, wicket(1))
	f.putEvent(t, finalID, wicket(2))
	f.trim(f.Seq())
	url, _ := start(t, cfg)
	s := openStream(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(from)})
	if all := s.until(named(frameDisplay)); names(all)[frameEvent] != len(in.Events)+2 {
		t.Errorf("no snapshot: %v", names(all))
	}
}

// When the journal is trimmed faster than the hub reads, every stream starts over.
func TestHubNoticesAGap(t *testing.T) {
	_, f, _ := config(t)
	h := newHub(f, clock.Real(), slog.New(slog.DiscardHandler))
	sub, leave := h.subscribe(finalID, false)
	defer leave()
	f.putEvent(t, finalID, wicket(1))
	f.putEvent(t, finalID, wicket(2))
	f.trim(1)
	h.pump(t.Context())
	if _, lost := sub.take(); !lost {
		t.Error("a record is missing and nobody was told")
	}
	f.putEvent(t, finalID, wicket(3))
	h.pump(t.Context())
	if frames, lost := sub.take(); lost || len(frames) != 1 {
		t.Errorf("afterwards %d frames came, lost %v", len(frames), lost)
	}
}
