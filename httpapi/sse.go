package httpapi

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

const (
	writeWithin = 10 * time.Second // for one batch of events to leave
	retryAfter  = 2 * time.Second  // what a client waits before it comes again
	copyUpTo    = 16 << 10         // bytes of a batch that are put together before they leave
)

// The first and the last words of gzip (RFC 1952) around what wire.packed gives.
const (
	gzipHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	gzipEnd  = "\x03\x00" // a last block with nothing in it; sum and size follow
)

// pipe is where a stream goes.
type pipe interface {
	Write(p []byte) (n int, err error)
	SetWriteDeadline(at time.Time) error
}

// sse writes server-sent events. The deadline of the connection is set forward with each batch, so that the server's
// own write time-out does not end a stream, and a dead client does.
type sse struct {
	to   pipe
	wall clock.Clock
	enc  *encoder

	conn   net.Conn // taken over from net/http; nil: to is a ResponseWriter
	packed bool     // gzip; only with conn
	sum    uint32   // of what was sent before it was packed
	size   uint32
	sent   int64
	gone   atomic.Bool   // the client has closed
	within time.Duration // for a batch to leave; writeWithin when zero
}

// newSSE writes to a connection that net/http keeps.
func newSSE(w http.ResponseWriter, wall clock.Clock) *sse {
	return &sse{to: &flushed{w, http.NewResponseController(w)}, wall: wall, enc: newEncoder()}
}

// flushed is a ResponseWriter all of whose writes leave.
type flushed struct {
	http.ResponseWriter
	ctl *http.ResponseController
}

func (f *flushed) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = f.ctl.Flush()
	}
	return n, err
}

func (f *flushed) SetWriteDeadline(at time.Time) error { return f.ctl.SetWriteDeadline(at) }

// streamHead is what a stream's answer says of itself.
func streamHead(h http.Header) {
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // or a proxy collects what should be seen now
}

// open sends the head. The time-out for reading the request would cut a stream off as well: nothing more is read.
func (s *sse) open() error {
	if f, ok := s.to.(*flushed); ok {
		streamHead(f.Header())
		if err := f.ctl.SetReadDeadline(time.Time{}); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		f.WriteHeader(http.StatusOK)
	}
	return s.wires(s.enc.hello)
}

// send writes frames and sees that they leave.
func (s *sse) send(frames ...frame) error {
	if len(frames) == 0 {
		return nil
	}
	if len(frames) == 1 {
		return s.wires(frames[0].wire)
	}
	all := make([]*wire, len(frames))
	for i := range frames {
		all[i] = frames[i].wire
	}
	return s.wires(all...)
}

// beat shows both ends that the connection stands.
func (s *sse) beat() error { return s.wires(s.enc.beat) }

// goodbye tells the client when to come again.
func (s *sse) goodbye(after time.Duration) error {
	return s.wires(&wire{plain: fmt.Appendf(nil, "retry: %d\n\n", after.Milliseconds())})
}

func (s *sse) wires(all ...*wire) error {
	if err := s.to.SetWriteDeadline(s.wall.Now().Add(cmp.Or(s.within, writeWithin))); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	buf := s.enc.buffer()
	defer s.enc.scratch.Put(buf)
	for _, w := range all {
		body := w.plain
		if s.packed {
			s.sum, s.size = crc32.Update(s.sum, crc32.IEEETable, w.plain), s.size+uint32(len(w.plain))
			body = w.packed(s.enc)
		}
		if buf.Len() > 0 && buf.Len()+len(body) > copyUpTo {
			if err := s.write(buf.Bytes()); err != nil {
				return err
			}
			buf.Reset()
		}
		if err := s.chunk(buf, body); err != nil {
			return err
		}
	}
	return s.write(buf.Bytes())
}

// chunk adds a part of the body to what leaves next; a large one leaves by itself, uncopied.
func (s *sse) chunk(buf *bytes.Buffer, body []byte) error {
	if s.conn != nil {
		buf.WriteString(strconv.FormatInt(int64(len(body)), 16) + "\r\n")
	}
	if len(body) <= copyUpTo {
		buf.Write(body)
	} else {
		if err := s.write(buf.Bytes()); err != nil {
			return err
		}
		buf.Reset()
		if err := s.write(body); err != nil {
			return err
		}
	}
	if s.conn != nil {
		buf.WriteString("\r\n")
	}
	return nil
}

func (s *sse) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n, err := s.to.Write(p)
	s.sent += int64(n)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}

// finish ends the body of a connection that was taken over, so that the client knows that it is whole.
func (s *sse) finish() error {
	var end []byte
	if s.packed {
		end = binary.LittleEndian.AppendUint32([]byte(gzipEnd), s.sum)
		end = binary.LittleEndian.AppendUint32(end, s.size)
		end = append(fmt.Appendf(nil, "%x\r\n", len(end)), append(end, "\r\n"...)...)
	}
	return s.write(append(end, "0\r\n\r\n"...))
}
