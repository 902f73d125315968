package httpapi

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/hang"
)

// message is one event as a client reads it.
type message struct {
	name, id, data, retry string
	comment               bool
}

// sseClient reads a stream.
type sseClient struct {
	t      testing.TB
	resp   *http.Response
	got    chan message
	cancel context.CancelFunc
}

func openStream(t testing.TB, url string, header map[string]string) *sseClient {
	t.Helper()
	s, err := tryStream(t, url, header)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tryStream is openStream where the server may cut the request off.
func tryStream(t testing.TB, url string, header map[string]string) (*sseClient, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	c := client(t)
	c.Timeout = 0
	resp, err := c.Do(req) //nolint:bodyclose // closed by close
	if err != nil {
		cancel()
		return nil, err
	}
	s := &sseClient{t: t, resp: resp, got: make(chan message, 1024), cancel: cancel}
	t.Cleanup(s.close)
	if resp.StatusCode == http.StatusOK {
		go s.read(resp.Body)
	}
	return s, nil
}

func (s *sseClient) close() {
	s.cancel()
	s.resp.Body.Close()
}

func (s *sseClient) read(body io.Reader) {
	defer close(s.got)
	sc := bufio.NewScanner(body)
	sc.Buffer(nil, 4<<20)
	var m message
	for sc.Scan() {
		field, value, _ := strings.Cut(sc.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			if sc.Text() != "" {
				m.comment = true
				continue
			}
			if m != (message{}) {
				s.got <- m
			}
			m = message{}
		case "event":
			m.name = value
		case "id":
			m.id = value
		case "data":
			m.data += value
		case "retry":
			m.retry = value
		}
	}
}

// next returns the next message; ok is false when the stream ended.
func (s *sseClient) next() (m message, ok bool) {
	s.t.Helper()
	select {
	case m, ok = <-s.got:
		return m, ok
	case <-time.After(hang.Limit(time.Minute)):
		s.t.Fatal("nothing came")
		return message{}, false
	}
}

// until reads up to and with the first message that fits.
func (s *sseClient) until(fits func(message) bool) []message {
	s.t.Helper()
	var all []message
	for end := time.Now().Add(hang.Limit(time.Minute)); ; {
		if time.Now().After(end) {
			s.t.Fatalf("not among %d messages", len(all))
		}
		m, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended after %d messages", len(all))
		}
		all = append(all, m)
		if fits(m) {
			return all
		}
	}
}

func named(name string) func(message) bool { return func(m message) bool { return m.name == name } }

func withID(id string) func(message) bool { return func(m message) bool { return m.id == id } }

// names lists what came.
func names(ms []message) map[string]int {
	n := map[string]int{}
	for _, m := range ms {
		n[m.name]++
	}
	return n
}
