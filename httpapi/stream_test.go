package httpapi

import (
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/clock"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(readersAt); address != "" { // this process is the readers of a benchmark
		readStreams(address)
		return
	}
	goleak.VerifyTestMain(m)
}

const streamPath = "/cricket/matches/" + finalID + "/stream"

func wicket(n int) cricket.Event {
	return cricket.Event{Key: fmt.Sprintf("w:2:%d", n), Type: cricket.EventWicket, Text: "WICKET!", Innings: 2}
}

func TestStreamBeginsWithASnapshot(t *testing.T) {
	cfg, f, in := config(t)
	f.putEvent(t, "other", wicket(1))
	seq := f.putDisplay(in.Display)
	url, _ := start(t, cfg)
	for name, header := range map[string]map[string]string{
		"first time":   nil,
		"not our id":   {"Last-Event-ID": "abc"},
		"from a later": {"Last-Event-ID": "999"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStream(t, url+streamPath, header)
			if got := s.resp.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
				t.Errorf("content type %q", got)
			}
			all := s.until(named(frameDisplay))
			want := map[string]int{"": 1, frameEvent: len(in.Events), frameCard: len(in.Card.Innings), frameDisplay: 1}
			if diff := cmp.Diff(want, names(all)); diff != "" {
				t.Error(diff)
			}
			if all[0].retry != "2000" {
				t.Errorf("retry is %q", all[0].retry)
			}
			for i, m := range all {
				if last := i == len(all)-1; (m.id != "") != last {
					t.Errorf("message %d of %d has id %q: only the last may, or a break in between would lose the rest", i, len(all), m.id)
				}
			}
			if got := all[len(all)-1].id; got != seqID(seq) {
				t.Errorf("id %s, want %d", got, seq)
			}
		})
	}
}

func TestStreamFollows(t *testing.T) {
	cfg, f, in := config(t)
	url, _ := start(t, cfg)
	s := openStream(t, url+streamPath, nil)
	s.until(named(frameDisplay))
	f.putEvent(t, "other", wicket(8))
	seq := f.putEvent(t, finalID, wicket(9))
	all := s.until(named(frameEvent))
	if m := all[0]; len(all) != 1 || m.id != seqID(seq) || !strings.Contains(m.data, `"key":"w:2:9"`) {
		t.Errorf("%+v", all)
	}
	seq = f.putCard(finalID, in.Card.Innings[1])
	if m := s.until(named(frameCard))[0]; m.id != seqID(seq) || !strings.HasPrefix(m.data, `{"number":2`) {
		t.Errorf("%+v", m)
	}
	d := in.Display
	d.Equation = "need 3 from 2"
	seq = f.putDisplay(d)
	if m := s.until(named(frameDisplay))[0]; m.id != seqID(seq) || !strings.Contains(m.data, "need 3 from 2") {
		t.Errorf("%+v", m)
	}
}

func TestStreamReplaysWhatWasMissed(t *testing.T) {
	cfg, f, in := config(t)
	url, _ := start(t, cfg)
	from := f.putEvent(t, finalID, wicket(1))
	want := []string{}
	for n := 2; n <= 40; n++ {
		want = append(want, seqID(f.putEvent(t, finalID, wicket(n))))
		f.putEvent(t, "other", wicket(n))
		f.putDisplay(in.Display)
	}
	want = append(want, seqID(f.Seq())) // of the displays only the newest
	for name, open := range map[string]func() *sseClient{
		"header": func() *sseClient {
			return openStream(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(from)})
		},
		"parameter": func() *sseClient { return openStream(t, url+streamPath+"?lastEventId="+seqID(from), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range open().until(withID(seqID(f.Seq())))[1:] {
				got = append(got, m.id)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("nothing missed", func(t *testing.T) {
		s := openStream(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(f.Seq())})
		s.next() // retry
		seq := f.putEvent(t, finalID, wicket(41))
		if m, _ := s.next(); m.id != seqID(seq) {
			t.Errorf("%+v came before what is new", m)
		}
	})
	t.Run("trimmed", func(t *testing.T) {
		f.trim(from + 1)
		s := openStream(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(from)})
		if all := s.until(named(frameDisplay)); names(all)[frameCard] != len(in.Card.Innings) {
			t.Errorf("no snapshot: %v", names(all))
		}
	})
}

// A stream that reconnects again and again, at every event it sees, ends with the same events as one that never broke.
func TestStreamOverManyBreaks(t *testing.T) {
	cfg, f, _ := config(t)
	url, _ := start(t, cfg)
	first := f.putEvent(t, finalID, wicket(0))
	for n := range 25 {
		f.putEvent(t, finalID, wicket(n+1))
	}
	id, seen := seqID(first), []string{}
	for id != seqID(f.Seq()) {
		s := openStream(t, url+streamPath, map[string]string{"Last-Event-ID": id})
		s.next() // retry
		m, ok := s.next()
		if !ok {
			t.Fatal("ended")
		}
		s.close()
		id = m.id
		seen = append(seen, id)
	}
	if len(seen) != 25 || !slices.IsSortedFunc(seen, func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("saw %v", seen)
	}
}

func TestStreamBeats(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Heartbeat = 5 * time.Millisecond
	url, _ := start(t, cfg)
	s := openStream(t, url+streamPath, nil)
	s.until(func(m message) bool { return m.comment })
}

// The server's own time-outs are for answers. A stream outlives them.
func TestStreamOutlivesTimeouts(t *testing.T) {
	cfg, f, _ := config(t)
	cfg.Heartbeat = 40 * time.Millisecond
	s := newServer(t, cfg)
	ctx := t.Context()
	done := make(chan struct{})
	go func() { defer close(done); s.hub.run(ctx) }()
	t.Cleanup(func() { <-done })
	web := httptest.NewUnstartedServer(s.Handler())
	web.Config.ReadTimeout, web.Config.WriteTimeout = 60*time.Millisecond, 60*time.Millisecond
	web.Start()
	t.Cleanup(web.Close)
	// On a busy machine the request itself may be too late for them, or the stream's first words: another one shows it then.
	var c *sseClient
	for beats, tries := 0, 0; beats < 10; tries++ {
		if tries == 20 {
			t.Fatal("no stream outlives them")
		}
		var err error
		if c, err = tryStream(t, web.URL+streamPath, nil); err != nil {
			continue
		}
		for ok := true; ok && beats < 10; {
			var m message
			if m, ok = c.next(); m.comment {
				beats++
			}
		}
		if beats < 10 {
			beats = 0
		}
	}
	f.putEvent(t, finalID, wicket(1))
	c.until(named(frameEvent))
}

func TestStreamIsCompressedEventByEvent(t *testing.T) {
	cfg, f, _ := config(t)
	url, _ := start(t, cfg)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+streamPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("encoding %q", got)
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	c := &sseClient{t: t, resp: resp, got: make(chan message, 1024), cancel: func() {}}
	go c.read(z)
	c.until(named(frameDisplay))
	for n := range 3 {
		f.putEvent(t, finalID, wicket(n))
		c.until(named(frameEvent)) // each before the next is made: nothing waits in the compressor
	}
	resp.Body.Close()
	for range c.got {
		continue // until the reader is gone
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Drain = time.Hour // who waits for the streams does not end
	url, stop := start(t, cfg)
	s := openStream(t, url+streamPath, nil)
	p := openStream(t, url+"/_/stream?match="+finalID, nil)
	s.until(named(frameDisplay))
	p.until(named("parts"))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*sseClient{s, p} {
		last := message{}
		for m := range c.got {
			last = m
		}
		if last.retry == "" {
			t.Errorf("the last word was %+v, not when to come again", last)
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.MaxStreams = 1
	url, _ := start(t, cfg)
	openStream(t, url+streamPath, nil).next()
	s := openStream(t, url+streamPath, nil)
	if s.resp.StatusCode != http.StatusServiceUnavailable || s.resp.Header.Get("Retry-After") == "" {
		t.Errorf("the second one is answered %s", s.resp.Status)
	}
}

// With nobody to read for, the journal is left alone, and time on a stepped clock moves on.
func TestIdleHub(t *testing.T) {
	cfg, f, in := config(t)
	steps := clock.NewStepped(in.Display.UpdatedAt)
	cfg.Clock = steps
	leave := steps.Join()
	start(t, cfg)
	for range 50 {
		f.putDisplay(in.Display)
		if err := clock.Sleep(t.Context(), steps, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	if f.reads > 0 {
		t.Errorf("the journal was read %d times", f.reads)
	}
}

// A listener that breaks is an error, and still everything ends.
func TestBrokenListener(t *testing.T) {
	cfg, _, _ := config(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := newServer(t, cfg).Run(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ended with %v", err)
	}
}
