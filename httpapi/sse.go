package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

const (
	writeWithin = 10 * time.Second // for one batch of events to leave
	retryAfter  = 2 * time.Second  // what a client waits before it comes again
)

// sse writes server-sent events. The deadline of the connection is set forward with each batch, so that the server's
// own write time-out does not end a stream, and a dead client does.
type sse struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	wall clock.Clock
	buf  bytes.Buffer
}

func newSSE(w http.ResponseWriter, wall clock.Clock) *sse {
	return &sse{w: w, ctl: http.NewResponseController(w), wall: wall}
}

// open sends the head. The time-out for reading the request would cut a stream off as well: nothing more is read.
func (s *sse) open() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // or a proxy collects what should be seen now
	if err := s.ctl.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	s.w.WriteHeader(http.StatusOK)
	fmt.Fprintf(&s.buf, "retry: %d\n\n", retryAfter.Milliseconds())
	return s.flush()
}

// send writes frames and sees that they leave.
func (s *sse) send(frames ...frame) error {
	for i := range frames {
		s.write(&frames[i])
	}
	return s.flush()
}

func (s *sse) write(f *frame) {
	s.buf.WriteString("event: " + f.name + "\n")
	if f.seq != 0 {
		s.buf.WriteString("id: " + seqID(f.seq) + "\n")
	}
	for line := range bytes.SplitSeq(f.data, []byte("\n")) {
		s.buf.WriteString("data: ")
		s.buf.Write(line)
		s.buf.WriteByte('\n')
	}
	s.buf.WriteByte('\n')
}

// beat shows both ends that the connection stands.
func (s *sse) beat() error {
	s.buf.WriteString(": \n\n")
	return s.flush()
}

// goodbye tells the client when to come again.
func (s *sse) goodbye(after time.Duration) error {
	fmt.Fprintf(&s.buf, "retry: %d\n\n", after.Milliseconds())
	return s.flush()
}

func (s *sse) flush() error {
	if s.buf.Len() == 0 {
		return nil
	}
	if err := s.ctl.SetWriteDeadline(s.wall.Now().Add(writeWithin)); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	_, err := s.w.Write(s.buf.Bytes())
	s.buf.Reset()
	if err == nil {
		err = s.ctl.Flush()
	}
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}
