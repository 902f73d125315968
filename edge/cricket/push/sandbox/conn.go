package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// frameHead is the size of a frame header (RFC 9113).
const frameHead = 9

// conn is a client's connection, below Go's server and above TLS. Go's server cannot change the number of
// allowed streams during a connection, as Apple's does. So conn writes such SETTINGS, and GOAWAY, between the
// server's frames, and hides their acknowledgements from it. It also counts streams opened beyond the limit.
type conn struct {
	net.Conn // TLS

	rd    io.Reader     // used only by the server's reading goroutine; what it reads is kept in raw
	in    *http2.Framer // over rd
	raw   bytes.Buffer  // read and not passed on yet
	begun bool          // the client's preface has been read

	mu        sync.Mutex
	out       *http2.Framer // writes our own frames
	pending   bytes.Buffer  // the server's output up to an incomplete frame
	announced uint32        // the stream limit last sent to the client
	waiting   []uint32      // limits sent and not acknowledged
	allowed   uint32        // the acknowledged limit
	open      map[uint32]struct{}
	newest    uint32        // the highest stream opened
	beyond    *atomic.Int64 // counts streams opened beyond the limit
	first     bool          // the server's own SETTINGS have been written
	acked     bool          // and acknowledged
	last      uint32        // the last stream that is served; 0: all are
	away      bool          // a GOAWAY waits for the server's own SETTINGS, which must come first
	trusted   sync.Once     // a valid provider token has been seen
}

func newConn(c net.Conn, streams uint32, beyond *atomic.Int64) *conn {
	w := &conn{
		Conn: c, announced: streams, allowed: 1 << 30, open: map[uint32]struct{}{}, out: http2.NewFramer(c, nil), beyond: beyond,
	}
	w.rd = io.TeeReader(bufio.NewReader(c), &w.raw)
	w.in = http2.NewFramer(nil, w.rd)
	return w
}

// Read passes the client's data to the server, without acknowledgements that are not its own.
func (w *conn) Read(p []byte) (int, error) {
	if !w.begun {
		if _, err := io.CopyN(io.Discard, w.rd, int64(len(http2.ClientPreface))); err != nil {
			return 0, err
		}
		w.begun = true
	}
	for w.raw.Len() == 0 {
		f, err := w.in.ReadFrame()
		if err != nil {
			return 0, err
		}
		if w.processFrame(f.Header()) {
			w.raw.Reset()
		}
	}
	return w.raw.Read(p)
}

// processFrame processes a client's frame; ours reports that it is not for the server: an acknowledgement of our own
// frames, or a stream beyond the last one that a GOAWAY named.
func (w *conn) processFrame(h http2.FrameHeader) (ours bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != 0 && h.StreamID > w.last {
		return true
	}
	switch h.Type {
	case http2.FrameSettings:
		if !h.Flags.Has(http2.FlagSettingsAck) {
			return false
		}
		if len(w.waiting) > 0 {
			w.allowed, w.waiting = w.waiting[0], w.waiting[1:]
		}
		ours = w.acked
		w.acked = true
		return ours
	case http2.FrameHeaders:
		if h.StreamID <= w.newest {
			return false // trailers
		}
		w.newest = h.StreamID
		w.open[h.StreamID] = struct{}{}
		if len(w.open) > int(w.allowed) {
			w.beyond.Add(1)
		}
	case http2.FrameRSTStream:
		delete(w.open, h.StreamID)
	}
	return false
}

// Write sends the complete frames of the server's output. The rest waits until it is complete, so that our own
// frames can be written at any time.
func (w *conn) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending.Write(p)
	whole := 0
	for {
		h, err := http2.ReadFrameHeader(bytes.NewReader(w.pending.Bytes()[whole:]))
		size := frameHead + int(h.Length)
		if err != nil || w.pending.Len() < whole+size { // incomplete header or frame
			break
		}
		if !w.first {
			if err := w.settings(w.pending.Next(size)); err != nil {
				return 0, err
			}
			continue
		}
		whole += size
		ends := (h.Type == http2.FrameHeaders || h.Type == http2.FrameData) && h.Flags.Has(http2.FlagDataEndStream)
		if ends || h.Type == http2.FrameRSTStream {
			delete(w.open, h.StreamID)
		}
	}
	if whole > 0 {
		if _, err := w.Conn.Write(w.pending.Next(whole)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// settings writes the server's own SETTINGS, its first frame, with the initial stream limit. Called with the lock held.
func (w *conn) settings(frame []byte) error {
	f, err := http2.NewFramer(nil, bytes.NewReader(frame)).ReadFrame()
	if err != nil {
		return err
	}
	own, ok := f.(*http2.SettingsFrame)
	if !ok {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	var all []http2.Setting
	_ = own.ForeachSetting(func(s http2.Setting) error {
		if s.ID == http2.SettingMaxConcurrentStreams {
			s.Val = w.announced
		}
		all = append(all, s)
		return nil
	})
	w.first, w.waiting = true, append(w.waiting, w.announced)
	if err := w.out.WriteSettings(all...); err != nil || !w.away {
		return err
	}
	return w.out.WriteGoAway(w.last, http2.ErrCodeNo, nil)
}

// allow sends the client a new stream limit. The server will notice an error of the connection.
func (w *conn) allow(streams uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.announced == streams {
		return
	}
	w.announced = streams
	if w.first {
		w.waiting = append(w.waiting, streams)
		_ = w.out.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: streams})
	}
}

// goAway tells the client that no further streams are served on this connection; open ones are.
func (w *conn) goAway() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.away = max(w.newest, 1), true
	if w.first {
		_ = w.out.WriteGoAway(w.last, http2.ErrCodeNo, nil)
	}
}

// connListener listens for clients.
type connListener struct {
	net.Listener
	tls *tls.Config
	box *Sandbox
}

// Accept accepts a client. The handshake happens at the first read, in the connection's own goroutine.
func (l *connListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := newConn(tls.Server(c, l.tls), uint32(l.box.cfg.First), &l.box.beyond)
	l.box.join(w)
	return w, nil
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(ctx context.Context) *conn {
	w, _ := ctx.Value(connKey{}).(*conn)
	return w
}

func (s *Sandbox) join(w *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns++
	s.open[w] = struct{}{}
}

// removeConn removes a closed connection.
func (s *Sandbox) removeConn(c net.Conn) {
	w, ok := c.(*conn)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, w)
}

// openConns returns the open connections.
func (s *Sandbox) openConns() (all []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.open {
		all = append(all, w)
	}
	return all
}

// SetStreams sends every client a new stream limit; later clients get it after their first valid provider token.
func (s *Sandbox) SetStreams(n int) {
	s.mu.Lock()
	s.streams = uint32(n)
	s.mu.Unlock()
	for _, w := range s.openConns() {
		w.allow(uint32(n))
	}
}

// GoAway tells every client to use another connection. It takes effect at the client's next read.
func (s *Sandbox) GoAway() {
	for _, w := range s.openConns() {
		w.goAway()
	}
}

// StreamsBeyond returns how many streams were opened beyond the limit known to the client.
func (s *Sandbox) StreamsBeyond() int { return int(s.beyond.Load()) }

// trust gives a client more than one stream after its first valid provider token.
func (s *Sandbox) trust(w *conn) {
	if w == nil {
		return
	}
	w.trusted.Do(func() {
		s.mu.Lock()
		streams := s.streams
		s.mu.Unlock()
		w.allow(streams)
	})
}
