package sse

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

// The first and the last words of gzip (RFC 1952) around what encoded.packed gives.
const (
	gzipHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	gzipEnd  = "\x03\x00" // a last block with nothing in it; sum and size follow
)

// pipe is where a stream goes.
type pipe interface {
	Write(p []byte) (n int, err error)
	SetWriteDeadline(at time.Time) error
}

// Conn writes server-sent events to one reader. Each batch has a deadline, so that a dead client ends a stream. Between batches there is
// none: HTTP/2 ends a stream when its deadline comes, whether anything is being written or not.
type Conn struct {
	to   pipe
	wall clock.Clock
	enc  *Encoder

	conn   net.Conn // taken over from net/http; nil: to is a ResponseWriter
	packed bool     // gzip; only with conn
	sum    uint32   // of what was sent before it was packed
	size   uint32
	sent   int64
	gone   atomic.Bool   // the client has closed
	within time.Duration // for a batch to leave; writeWithin when zero
}

// New writes to a connection that net/http keeps.
func New(w http.ResponseWriter, wall clock.Clock, enc *Encoder) *Conn {
	return &Conn{to: &flushed{w, http.NewResponseController(w)}, wall: wall, enc: enc}
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

// Open sends the head. The time-out for reading the request would cut a stream off as well: nothing more is read.
func (c *Conn) Open() error {
	if f, ok := c.to.(*flushed); ok {
		streamHead(f.Header())
		if err := f.ctl.SetReadDeadline(time.Time{}); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		f.WriteHeader(http.StatusOK)
	}
	return c.batch(c.enc.hello)
}

// Send writes frames and sees that they leave.
func (c *Conn) Send(frames ...Frame) error {
	if len(frames) == 0 {
		return nil
	}
	all := make([]*encoded, len(frames))
	for i := range frames {
		all[i] = frames[i].enc
	}
	return c.batch(all...)
}

// Beat shows both ends that the connection stands.
func (c *Conn) Beat() error { return c.batch(c.enc.beat) }

// Tick says that there is nothing new, as an event that a page's script hears.
func (c *Conn) Tick() error { return c.batch(c.enc.tick) }

// Goodbye tells the client when to come again.
func (c *Conn) Goodbye(after time.Duration) error {
	return c.batch(&encoded{plain: fmt.Appendf(nil, "retry: %d\n\n", after.Milliseconds())})
}

func (c *Conn) batch(all ...*encoded) error {
	if err := c.to.SetWriteDeadline(c.wall.Now().Add(cmp.Or(c.within, writeWithin))); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	buf := c.enc.buffer()
	defer c.enc.scratch.Put(buf)
	for _, w := range all {
		body := w.plain
		if c.packed {
			c.sum, c.size = crc32.Update(c.sum, crc32.IEEETable, w.plain), c.size+uint32(len(w.plain))
			body = w.packed(c.enc)
		}
		if buf.Len() > 0 && buf.Len()+len(body) > copyUpTo {
			if err := c.write(buf.Bytes()); err != nil {
				return err
			}
			buf.Reset()
		}
		if err := c.chunk(buf, body); err != nil {
			return err
		}
	}
	if err := c.write(buf.Bytes()); err != nil || c.conn != nil {
		return err
	}
	if err := c.to.SetWriteDeadline(time.Time{}); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}

// chunk adds a part of the body to what leaves next; a large one leaves by itself, uncopied.
func (c *Conn) chunk(buf *bytes.Buffer, body []byte) error {
	if c.conn != nil {
		buf.WriteString(strconv.FormatInt(int64(len(body)), 16) + "\r\n")
	}
	if len(body) <= copyUpTo {
		buf.Write(body)
	} else {
		if err := c.write(buf.Bytes()); err != nil {
			return err
		}
		buf.Reset()
		if err := c.write(body); err != nil {
			return err
		}
	}
	if c.conn != nil {
		buf.WriteString("\r\n")
	}
	return nil
}

func (c *Conn) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n, err := c.to.Write(p)
	c.sent += int64(n)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}

// Gone reports whether the client has closed.
func (c *Conn) Gone() bool { return c.gone.Load() }

// Hurry bounds what is written from now on: nobody waits for a reader who does not read.
func (c *Conn) Hurry(within time.Duration) { c.within = within }

// Sent is how many bytes have left.
func (c *Conn) Sent() int64 { return c.sent }

// Close closes a connection that was taken over.
func (c *Conn) Close() error { return c.conn.Close() }

// Finish ends the body of a connection that was taken over, so that the client knows that it is whole.
func (c *Conn) Finish() error {
	var end []byte
	if c.packed {
		end = binary.LittleEndian.AppendUint32([]byte(gzipEnd), c.sum)
		end = binary.LittleEndian.AppendUint32(end, c.size)
		end = append(fmt.Appendf(nil, "%x\r\n", len(end)), append(end, "\r\n"...)...)
	}
	return c.write(append(end, "0\r\n\r\n"...))
}
