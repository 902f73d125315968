package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// Message is an event as a client receives it.
type Message struct {
	Name, ID, Data, Retry string
	Comment               bool
}

// Stream reads an event stream.
type Stream struct {
	Resp *http.Response
	Got  chan Message // closed when the stream ends

	t      testing.TB
	cancel context.CancelFunc
}

// Open opens a stream.
func Open(t testing.TB, url string, header map[string]string) *Stream {
	t.Helper()
	s, err := Try(t, url, header)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Try is Open for a server that may cut the request off.
func Try(t testing.TB, url string, header map[string]string) (*Stream, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	c := Client(t)
	c.Timeout = 0
	resp, err := c.Do(req) //nolint:bodyclose // closed by Close
	if err != nil {
		cancel()
		return nil, err
	}
	s := &Stream{t: t, Resp: resp, Got: make(chan Message, 1024), cancel: cancel}
	t.Cleanup(s.Close)
	if resp.StatusCode == http.StatusOK {
		go s.read(resp.Body)
	}
	return s, nil
}

// Close closes the stream.
func (s *Stream) Close() {
	s.cancel()
	s.Resp.Body.Close()
}

// Read reads a stream from a body that was opened by other means.
func Read(t testing.TB, resp *http.Response, body io.Reader) *Stream {
	s := &Stream{t: t, Resp: resp, Got: make(chan Message, 1024), cancel: func() {}}
	go s.read(body)
	return s
}

func (s *Stream) read(body io.Reader) {
	defer close(s.Got)
	sc := bufio.NewScanner(body)
	sc.Buffer(nil, 4<<20)
	var m Message
	for sc.Scan() {
		field, value, _ := strings.Cut(sc.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			if sc.Text() != "" {
				m.Comment = true
				continue
			}
			if m != (Message{}) {
				s.Got <- m
			}
			m = Message{}
		case "event":
			m.Name = value
		case "id":
			m.ID = value
		case "data":
			m.Data += value
		case "retry":
			m.Retry = value
		}
	}
}

// Next returns the next message; ok is false if the stream has ended.
func (s *Stream) Next() (m Message, ok bool) {
	s.t.Helper()
	return wait.Receive(s.t, "the next message of "+s.name(), s.Got)
}

// name names the stream in messages.
func (s *Stream) name() string {
	if s.Resp.Request == nil { // read from a bare connection
		return "the stream"
	}
	return "the stream " + s.Resp.Request.URL.Path
}

// Until reads up to and including the first matching message.
func (s *Stream) Until(fits func(Message) bool) []Message {
	s.t.Helper()
	var all []Message
	ended := false
	found := func() bool {
		m, ok := s.Next()
		ended = !ok
		all = append(all, m)
		return ended || fits(m)
	}
	wait.Until(s.t, "a message of "+s.name()+" that fits", found, func() any { return all[len(all)-1] })
	if ended {
		s.t.Fatalf("the stream ended after %d messages", len(all)-1)
	}
	return all
}

// Named matches messages with a name.
func Named(name string) func(Message) bool { return func(m Message) bool { return m.Name == name } }

// WithID matches the message with an id.
func WithID(id string) func(Message) bool { return func(m Message) bool { return m.ID == id } }

// Names counts messages by name.
func Names(ms []Message) map[string]int {
	n := map[string]int{}
	for _, m := range ms {
		n[m.Name]++
	}
	return n
}
