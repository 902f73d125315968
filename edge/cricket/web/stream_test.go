package web

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(readersAt); address != "" { // this process runs the readers of a benchmark
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
		"first time": nil,
		"not our id": {"Last-Event-ID": "abc"},
		"a later id": {"Last-Event-ID": "999"},
	} {
		t.Run(name, func(t *testing.T) {
			s := web.Open(t, url+streamPath, header)
			if got := s.Resp.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
				t.Errorf("content type %q", got)
			}
			all := s.Until(web.Named(frameDisplay))
			want := map[string]int{"": 1, frameEvent: len(in.Events), frameCard: len(in.Card.Innings), frameDisplay: 1}
			if diff := cmp.Diff(want, web.Names(all)); diff != "" {
				t.Error(diff)
			}
			if all[0].Retry != "2000" {
				t.Errorf("retry is %q", all[0].Retry)
			}
			for i, m := range all {
				if last := i == len(all)-1; (m.ID != "") != last {
					t.Errorf("message %d of %d has id %q: only the last may, or a break in between would lose the rest", i, len(all), m.ID)
				}
			}
			if got := all[len(all)-1].ID; got != seqID(seq) {
				t.Errorf("id %s, want %d", got, seq)
			}
		})
	}
}

func TestStreamFollows(t *testing.T) {
	cfg, f, in := config(t)
	url, _ := start(t, cfg)
	s := web.Open(t, url+streamPath, nil)
	s.Until(web.Named(frameDisplay))
	f.putEvent(t, "other", wicket(8))
	seq := f.putEvent(t, finalID, wicket(9))
	all := s.Until(web.Named(frameEvent))
	if m := all[0]; len(all) != 1 || m.ID != seqID(seq) || !strings.Contains(m.Data, `"key":"w:2:9"`) {
		t.Errorf("%+v", all)
	}
	seq = f.putCard(finalID, in.Card.Innings[1])
	if m := s.Until(web.Named(frameCard))[0]; m.ID != seqID(seq) || !strings.HasPrefix(m.Data, `{"number":2`) {
		t.Errorf("%+v", m)
	}
	d := in.Display
	d.Equation = "need 3 from 2"
	seq = f.putDisplay(d)
	if m := s.Until(web.Named(frameDisplay))[0]; m.ID != seqID(seq) || !strings.Contains(m.Data, "need 3 from 2") {
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
	want = append(want, seqID(f.store.Seq())) // of the displays only the newest
	for name, open := range map[string]func() *web.Stream{
		"header": func() *web.Stream {
			return web.Open(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(from)})
		},
		"parameter": func() *web.Stream { return web.Open(t, url+streamPath+"?lastEventId="+seqID(from), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range open().Until(web.WithID(seqID(f.store.Seq())))[1:] {
				got = append(got, m.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("nothing missed", func(t *testing.T) {
		s := web.Open(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(f.store.Seq())})
		s.Next() // retry
		seq := f.putEvent(t, finalID, wicket(41))
		if m, _ := s.Next(); m.ID != seqID(seq) {
			t.Errorf("%+v came before the new event", m)
		}
	})
	t.Run("trimmed", func(t *testing.T) {
		cfg, f, in := configIn(t, storetest.OpenWith(t, t.TempDir()+"/s.db", store.Options{NoSync: true, JournalBytes: 1}, tables.All()...))
		url, _ := start(t, cfg)
		from := f.putEvent(t, finalID, wicket(1))
		f.putEvent(t, finalID, wicket(2))
		s := web.Open(t, url+streamPath, map[string]string{"Last-Event-ID": seqID(from)})
		if all := s.Until(web.Named(frameDisplay)); web.Names(all)[frameCard] != len(in.Card.Innings) {
			t.Errorf("no snapshot: %v", web.Names(all))
		}
	})
}

// A stream that reconnects after every event receives each event once.
func TestStreamOverManyBreaks(t *testing.T) {
	cfg, f, _ := config(t)
	url, _ := start(t, cfg)
	first := f.putEvent(t, finalID, wicket(0))
	for n := range 25 {
		f.putEvent(t, finalID, wicket(n+1))
	}
	id, seen := seqID(first), []string{}
	for id != seqID(f.store.Seq()) {
		s := web.Open(t, url+streamPath, map[string]string{"Last-Event-ID": id})
		s.Next() // retry
		m, ok := s.Next()
		if !ok {
			t.Fatal("ended")
		}
		s.Close()
		id = m.ID
		seen = append(seen, id)
	}
	if len(seen) != 25 || !slices.IsSortedFunc(seen, func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("saw %v", seen)
	}
}

func TestStreamHeartbeat(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Heartbeat = 5 * time.Millisecond
	url, _ := start(t, cfg)
	s := web.Open(t, url+streamPath, nil)
	s.Until(func(m web.Message) bool { return m.Comment })
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
	c := web.Read(t, resp, z)
	c.Until(web.Named(frameDisplay))
	for n := range 3 {
		f.putEvent(t, finalID, wicket(n))
		c.Until(web.Named(frameEvent)) // each arrives before the next is written: nothing waits in the compressor
	}
	resp.Body.Close()
	for range c.Got {
		continue // until the reader has ended
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Drain = time.Hour // a shutdown that waits for the streams does not end in time
	url, stop := start(t, cfg)
	s := web.Open(t, url+streamPath, nil)
	p := web.Open(t, url+"/_/stream?app=cricket&page="+finalID, nil)
	s.Until(web.Named(frameDisplay))
	p.Until(web.Named("parts"))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*web.Stream{s, p} {
		last := web.Message{}
		for m := range c.Got {
			last = m
		}
		if last.Retry == "" {
			t.Errorf("the last message was %+v, without a retry time", last)
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.MaxStreams = 1
	url, _ := start(t, cfg)
	web.Open(t, url+streamPath, nil).Next()
	s := web.Open(t, url+streamPath, nil)
	if s.Resp.StatusCode != http.StatusServiceUnavailable || s.Resp.Header.Get("Retry-After") == "" {
		t.Errorf("the second stream was answered %s", s.Resp.Status)
	}
}
