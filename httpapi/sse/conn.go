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
	writeWithin = 10 * time.Second // time limit for writing a batch of events
	retryAfter  = 2 * time.Second  // how long clients wait before they reconnect
	copyUpTo    = 16 << 10         // bytes that are collected before a write
)

// The header and the final block of a gzip stream (RFC 1952) around encoded.compressFrame.
const (
	gzipHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	gzipEnd  = "\x03\x00" // an empty last block; checksum and size follow
)

// pipe is the destination of a stream.
type pipe interface {
	Write(p []byte) (n int, err error)
	SetWriteDeadline(at time.Time) error
}

// Conn writes server-sent events to one reader. Each batch has a deadline, so that a dead client ends its stream. Between batches there
// is none: HTTP/2 ends a stream at its deadline, even if nothing is being written.
type Conn struct {
	to   pipe
	wall clock.Clock
	enc  *Encoder

	conn   net.Conn // taken over from net/http; nil: to wraps a ResponseWriter
	packed bool     // gzip; only with conn
	sum    uint32   // CRC-32 of the uncompressed body
	size   uint32
	sent   int64
	gone   atomic.Bool   // the client has closed the connection
	within time.Duration // time limit for a batch; writeWithin when zero
}

// New returns a Conn on a connection that net/http keeps.
func New(w http.ResponseWriter, wall clock.Clock, enc *Encoder) *Conn {
	return &Conn{to: &flushed{w, http.NewResponseController(w)}, wall: wall, enc: enc}
}

// flushed is a ResponseWriter that flushes every write.
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

// streamHead sets the headers of a stream.
func streamHead(h http.Header) {
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx would buffer events
}

// Open sends the header. It removes the read deadline, which would end the stream.
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

// Send writes and flushes frames.
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

// Beat sends a comment, so that both ends notice a broken connection.
func (c *Conn) Beat() error { return c.batch(c.enc.beat) }

// Tick sends an event without news, which a page's script sees.
func (c *Conn) Tick() error { return c.batch(c.enc.tick) }

// Goodbye tells the client how long to wait before it reconnects.
func (c *Conn) Goodbye(after time.Duration) error {
	return c.batch(&encoded{plain: fmt.Appendf(nil, "retry: %d\n\n", after.Milliseconds())})
}

func (c *Conn) batch(all ...*encoded) error {
	if err := c.to.SetWriteDeadline(c.wall.Wall().Add(cmp.Or(c.within, writeWithin))); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	buf := c.enc.buffer()
	defer c.enc.scratch.Put(buf)
	for _, w := range all {
		body := w.plain
		if c.packed {
			c.sum, c.size = crc32.Update(c.sum, crc32.IEEETable, w.plain), c.size+uint32(len(w.plain))
			body = w.compressFrame(c.enc)
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

// chunk adds a part of the body to buf. A large part is written directly, without a copy.
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

// IsGone reports whether the client has closed the connection.
func (c *Conn) IsGone() bool { return c.gone.Load() }

// Hurry shortens the time limit of later batches, so that nobody waits for a client that does not read.
func (c *Conn) Hurry(within time.Duration) { c.within = within }

// BytesSent returns how many bytes were written.
func (c *Conn) BytesSent() int64 { return c.sent }

// Close closes a connection that was taken over.
func (c *Conn) Close() error { return c.conn.Close() }

// Finish ends the body of a connection that was taken over, so that the client knows that it is complete.
func (c *Conn) Finish() error {
	var end []byte
	if c.packed {
		end = binary.LittleEndian.AppendUint32([]byte(gzipEnd), c.sum)
		end = binary.LittleEndian.AppendUint32(end, c.size)
		end = append(fmt.Appendf(nil, "%x\r\n", len(end)), append(end, "\r\n"...)...)
	}
	return c.write(append(end, "0\r\n\r\n"...))
}
