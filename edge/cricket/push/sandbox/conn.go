package sandbox

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// What of HTTP/2 is looked at (RFC 9113): frames have a head of nine bytes.
const (
	frameHead    = 9
	frameData    = 0x0
	frameHeaders = 0x1
	frameReset   = 0x3
	frameSetting = 0x4
	frameGoAway  = 0x7
	flagEnd      = 0x1 // of DATA and HEADERS: the stream ends; of SETTINGS: an acknowledgement
	maxStreamsID = 0x3 // SETTINGS_MAX_CONCURRENT_STREAMS
	prefaceSize  = 24
)

// head is the head of a frame.
type head struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func parseHead(b []byte) head {
	return head{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]), kind: b[3], flags: b[4],
		stream: binary.BigEndian.Uint32(b[5:9]) & (1<<31 - 1),
	}
}

func (h head) append(b []byte) []byte {
	b = append(b, byte(h.length>>16), byte(h.length>>8), byte(h.length), h.kind, h.flags)
	return binary.BigEndian.AppendUint32(b, h.stream)
}

// wire is the connection of a client, below Go's server and above TLS. The server cannot change the number of streams
// that it allows while a connection lives, as Apple's does: wire writes such SETTINGS, and GOAWAY, between the server's
// frames, and keeps their acknowledgements to itself. It counts the streams that are opened beyond what was allowed.
type wire struct {
	net.Conn // TLS

	rd    *bufio.Reader // of one goroutine, the server's
	left  int           // of the frame being read
	lead  []byte        // of what was read and not handed on yet
	begun bool

	mu      sync.Mutex
	told    uint32   // the number of streams that the client was told last
	waiting []uint32 // told and not acknowledged
	allowed uint32   // acknowledged
	open    map[uint32]struct{}
	newest  uint32 // the highest stream opened
	beyond  int    // streams opened though they were not allowed
	first   bool   // the server's own SETTINGS have been written
	acked   bool   // and acknowledged
	rest    int    // of the frame being written
	part    []byte // of a head being written
	queue   []byte // frames to be written at the next boundary
	last    uint32 // the last stream that is served, 0: all
	trusted bool   // a valid provider token has been seen
}

func newWire(c net.Conn, streams uint32) *wire {
	return &wire{Conn: c, rd: bufio.NewReader(c), told: streams, allowed: 1 << 30, open: map[uint32]struct{}{}}
}

// Read gives the server what the client sent, without the acknowledgements that are not its own.
func (w *wire) Read(p []byte) (int, error) {
	for {
		if len(w.lead) > 0 {
			n := copy(p, w.lead)
			w.lead = w.lead[n:]
			return n, nil
		}
		if w.left > 0 {
			n, err := w.rd.Read(p[:min(len(p), w.left)])
			w.left -= n
			return n, err
		}
		if err := w.next(); err != nil {
			return 0, err
		}
	}
}

// next reads the preface or the head of a frame.
func (w *wire) next() error {
	size := frameHead
	if !w.begun {
		size = prefaceSize
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(w.rd, raw); err != nil {
		return err
	}
	if !w.begun {
		w.begun, w.lead = true, raw
		return nil
	}
	h := parseHead(raw)
	if w.came(h) {
		_, err := w.rd.Discard(h.length)
		return err
	}
	w.left, w.lead = h.length, raw
	return nil
}

// came notes a frame of the client; ours tells that it is not for the server: an acknowledgement of what it did not
// send, and streams beyond the last that a GOAWAY named.
func (w *wire) came(h head) (ours bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != 0 && h.stream > w.last {
		return true
	}
	switch h.kind {
	case frameSetting:
		if h.flags&flagEnd == 0 {
			return false
		}
		if len(w.waiting) > 0 {
			w.allowed, w.waiting = w.waiting[0], w.waiting[1:]
		}
		ours = w.acked
		w.acked = true
		return ours
	case frameHeaders:
		if h.stream <= w.newest {
			return false // trailers
		}
		w.newest = h.stream
		w.open[h.stream] = struct{}{}
		if len(w.open) > int(w.allowed) {
			w.beyond++
		}
	case frameReset:
		delete(w.open, h.stream)
	}
	return false
}

// Write sends what the server writes, with our frames between its own.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	began := w.first
	if !w.first && len(p) >= frameHead {
		w.first = true
		p = w.rewrite(p)
	}
	done := 0
	for i := 0; i < len(p); {
		if (began || i > 0) && w.rest == 0 && len(w.part) == 0 && len(w.queue) > 0 {
			if _, err := w.Conn.Write(p[done:i]); err != nil {
				return done, err
			}
			done = i
			if err := w.flush(); err != nil {
				return done, err
			}
		}
		i += w.pass(p[i:])
	}
	if _, err := w.Conn.Write(p[done:]); err != nil {
		return done, err
	}
	if w.rest == 0 && len(w.part) == 0 {
		return len(p), w.flush()
	}
	return len(p), nil
}

// pass steps over a piece of what is written and returns its size. Called with the lock held.
func (w *wire) pass(p []byte) int {
	if w.rest > 0 {
		n := min(w.rest, len(p))
		w.rest -= n
		return n
	}
	n := min(frameHead-len(w.part), len(p))
	w.part = append(w.part, p[:n]...)
	if len(w.part) < frameHead {
		return n
	}
	h := parseHead(w.part)
	w.part, w.rest = w.part[:0], h.length
	ends := (h.kind == frameHeaders || h.kind == frameData) && h.flags&flagEnd != 0
	if ends || h.kind == frameReset {
		delete(w.open, h.stream)
	}
	return n
}

// rewrite puts the number of streams allowed at first into the server's own SETTINGS, which come in its first write.
// Called with the lock held.
func (w *wire) rewrite(p []byte) []byte {
	h := parseHead(p)
	if h.kind != frameSetting || len(p) < frameHead+h.length {
		return p
	}
	out := append([]byte(nil), p...)
	for at := frameHead; at+6 <= frameHead+h.length; at += 6 {
		if binary.BigEndian.Uint16(out[at:]) == maxStreamsID {
			binary.BigEndian.PutUint32(out[at+2:], w.told)
		}
	}
	w.waiting = append(w.waiting, w.told)
	return out
}

// flush writes what waits. Called with the lock held, between two frames.
func (w *wire) flush() error {
	if len(w.queue) == 0 {
		return nil
	}
	_, err := w.Conn.Write(w.queue)
	w.queue = nil
	return err
}

// allow tells the client how many streams it may have from now on. An error of the connection is the server's to see.
func (w *wire) allow(streams uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told == streams {
		return
	}
	w.told = streams
	w.waiting = append(w.waiting, streams)
	b := head{length: 6, kind: frameSetting}.append(w.queue)
	b = binary.BigEndian.AppendUint16(b, maxStreamsID)
	w.send(binary.BigEndian.AppendUint32(b, streams))
}

// goAway tells the client that no further stream will be served here; what it has opened is.
func (w *wire) goAway() {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := head{length: 8, kind: frameGoAway}.append(w.queue)
	w.last = max(w.newest, 1)
	b = binary.BigEndian.AppendUint32(b, w.last)
	w.send(binary.BigEndian.AppendUint32(b, 0)) // NO_ERROR
}

// send writes frames of ours, now if the server is between two of its own. Called with the lock held.
func (w *wire) send(frames []byte) {
	w.queue = frames
	if w.first && w.rest == 0 && len(w.part) == 0 {
		_ = w.flush()
	}
}

// wires listens for clients.
type wires struct {
	net.Listener
	tls *tls.Config
	box *Sandbox
}

// Accept takes a client. The handshake is made with the first read, by the connection's own goroutine.
func (l *wires) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := newWire(tls.Server(c, l.tls), uint32(l.box.cfg.First))
	l.box.join(w)
	return w, nil
}

type wireKey struct{}

func withWire(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, c)
}

func wireOf(ctx context.Context) *wire {
	w, _ := ctx.Value(wireKey{}).(*wire)
	return w
}

func (s *Sandbox) join(w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns++
	s.wires[w] = struct{}{}
}

// leave forgets a connection that has ended.
func (s *Sandbox) leave(c net.Conn) {
	w, ok := c.(*wire)
	if !ok {
		return
	}
	w.mu.Lock()
	beyond := w.beyond
	w.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beyond += beyond
	delete(s.wires, w)
}

// connected lists the connections.
func (s *Sandbox) connected() (all []*wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.wires {
		all = append(all, w)
	}
	return all
}

// SetStreams tells every client how many streams it may have from now on, and those that come later after their first
// valid provider token.
func (s *Sandbox) SetStreams(n int) {
	s.mu.Lock()
	s.streams = uint32(n)
	s.mu.Unlock()
	for _, w := range s.connected() {
		w.allow(uint32(n))
	}
}

// GoAway tells every client to go on with another connection. It takes effect with the client's next look.
func (s *Sandbox) GoAway() {
	for _, w := range s.connected() {
		w.goAway()
	}
}

// Beyond is how many streams were opened that the SETTINGS known to the client did not allow.
func (s *Sandbox) Beyond() int {
	n := 0
	for _, w := range s.connected() {
		w.mu.Lock()
		n += w.beyond
		w.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return n + s.beyond
}

// trust is what a client gets for its first valid provider token: more than one stream.
func (s *Sandbox) trust(w *wire) {
	if w == nil {
		return
	}
	s.mu.Lock()
	n := s.streams
	s.mu.Unlock()
	w.trustOnce(n)
}

func (w *wire) trustOnce(n uint32) {
	w.mu.Lock()
	trusted := w.trusted
	w.trusted = true
	w.mu.Unlock()
	if !trusted {
		w.allow(n)
	}
}
