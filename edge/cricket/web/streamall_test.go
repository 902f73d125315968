package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/testrig/web"
)

// The stream of all matches begins with the displays of live matches. Each message has its match's id.
func TestStreamOfAllMatches(t *testing.T) {
	cfg, f, in := config(t)
	f.putDisplay(in.Display)
	url, _ := start(t, cfg)
	s := web.Open(t, url+"/cricket/stream", nil)
	if m := s.Until(web.Named(frameDisplay))[1]; !strings.HasPrefix(m.Data, `{"matchId":"1144530","display":{"matchId":"1144530"`) || m.ID == "" {
		t.Errorf("begins with %+v", m)
	}
	from := f.putEvent(t, "2", wicket(1))
	if m := s.Until(web.Named(frameEvent))[0]; !strings.HasPrefix(m.Data, `{"matchId":"2","event":{"key":"w:2:1"`) || m.ID != seqID(from) {
		t.Errorf("%+v", m)
	}
	d := in.Display
	d.MatchID = "2"
	f.putDisplay(d)
	f.putDisplay(in.Display)
	last := f.putCard(finalID, in.Card.Innings[0])
	again := web.Open(t, url+"/cricket/stream", map[string]string{"Last-Event-ID": seqID(from)})
	all := again.Until(web.WithID(seqID(last)))[1:]
	got := web.Names(all)
	if len(all) != 3 || got[frameDisplay] != 2 || got[frameCard] != 1 || !strings.HasPrefix(all[2].Data, `{"matchId":"1144530","card":{"number":1`) {
		t.Errorf("after a break %v", got)
	}
}

// shortly accepts every request, with an identity that expires 200 ms later.
type shortly struct{ web.ByName }

func (shortly) Identify(context.Context, *http.Request) (auth.Identity, error) {
	return auth.Identity{Subject: "u1", Expires: time.Now().Add(200*time.Millisecond - auth.Leeway)}, nil
}

// A stream ends when the token that allowed it expires.
func TestStreamEndsWithItsToken(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Auth = shortly{}
	url, _ := start(t, cfg)
	for _, path := range []string{streamPath, "/_/stream?app=cricket&page=" + finalID} {
		s := web.Open(t, url+path, nil)
		if s.Resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, s.Resp.Status)
		}
		for m := range s.Got {
			_ = m // until it ends
		}
	}
}

// An application can be mounted at the node's root, with its pages under /-/.
func TestMountAtTheRoot(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.App.Mount = "/"
	cfg.Auth = web.ByName{Silent: web.Staff()}
	h := newServer(t, cfg).Handler()
	for path, want := range map[string]string{
		"/": `"name":"sightscreen"`, "/matches": `{"items":[{"id":"1144530"`, "/matches/1144530/display": `"need 9 from 3"`, "/nothing": `{"error":{"code":"not_found"`,
		"/health": `"ok"`, "/readyz": "ready", "/_/": `href="/-/"`, "/-/": "Need 9 from 3", "/-/matches": `href="/-/matches/1144530"`, "/-/matches/1144530": "Need 9 from 3",
		"/_/nothing": `"type":"about:blank"`, "/metrics": "touchline_http",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: no %s in %.300s", path, want, w.Body)
		}
	}
}

// A match without a display can be streamed: the stream begins with the first display.
func TestStreamBeforeTheFirstReading(t *testing.T) {
	cfg, f, in := config(t)
	f.fixtures["2"] = matches.Fixture{MatchID: "2"}
	f.cards["2"] = cricket.Card{MatchID: "2"}
	url, _ := start(t, cfg)
	s := web.Open(t, url+"/cricket/matches/2/stream", nil)
	s.Next()
	d := in.Display
	d.MatchID = "2"
	f.putDisplay(d)
	s.Until(web.Named(frameDisplay))
}

// A reader that has stopped reading does not delay the server's shutdown.
func TestShutdownDoesNotWaitForAStuckReader(t *testing.T) {
	cfg, f, _ := config(t)
	url, stop := start(t, cfg)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", streamPath)
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the stream has begun; nothing is read from here on
		t.Fatal(err)
	}
	for n := range 64 { // more than any socket buffers
		e := wicket(n)
		e.Text = strings.Repeat("x", 256<<10)
		f.putEvent(t, finalID, e)
	}
	begin := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("the shutdown took %s", took)
	}
}

// A client of HTTP/1.0 gets its stream without chunks and without compression.
func TestStreamToAnOldClient(t *testing.T) {
	cfg, f, _ := config(t)
	url, _ := start(t, cfg)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n", streamPath)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if len(resp.TransferEncoding) > 0 || resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v %v", resp.TransferEncoding, resp.Header)
	}
	s := web.Read(t, resp, resp.Body)
	s.Until(web.Named(frameDisplay))
	f.putEvent(t, finalID, wicket(9))
	s.Until(web.Named(frameEvent))
	conn.Close()
	for range s.Got {
		continue // until the reader has ended
	}
}

// A panic after the answer has begun cuts the connection, so that half an answer is not taken for the whole.
func TestPanicInTheMiddleCutsTheConnection(t *testing.T) {
	cfg, f, _ := config(t)
	f.fixtures["panic2"] = matches.Fixture{MatchID: "panic2"}
	url, _ := start(t, cfg)
	f.mu.Lock()
	f.panicOn = "panic2"
	f.mu.Unlock()
	resp, err := web.Client(t).Get(url + "/cricket/matches/panic2/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := new(bytes.Buffer).ReadFrom(resp.Body); err == nil {
		t.Error("the stream ended as if it were complete")
	}
}
