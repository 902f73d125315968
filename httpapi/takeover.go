package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// stream is one reader's connection and what is written to it.
type stream struct {
	kind string
	sub  *subscriber
	run  func(ctx context.Context, out *sse) error
}

// serveStream writes a stream until the reader goes or the server shuts down. It takes the connection from net/http,
// whose buffers, request and stack cost several times what a reader does who mostly waits; where it cannot have it
// (a client of HTTP/1.0, or one of another protocol) the stream goes on inside the request.
func (s *Server) serveStream(c *gin.Context, st *stream, leave func()) error {
	out, ok := s.takeOver(c)
	if !ok {
		defer leave()
		ctx, cancel := s.streamContext(c.Request.Context())
		defer cancel()
		out := newSSE(c.Writer, s.wall)
		return ended(ctx, st.run(ctx, out), out)
	}
	note := s.noteOf(c)
	c.Set(keyTaken, true)
	s.streams.Go(func() {
		defer leave()
		defer out.conn.Close() //nolint:errcheck // what there was to say is said
		st.sub.out.Store(out)
		s.streams.Go(func() { out.watch(st.sub) })
		start := s.wall.Now()
		err := s.guarded(st, out)
		note.status, note.bytes, note.err = http.StatusOK, int(out.sent), err
		s.report(note, s.wall.Now().Sub(start))
	})
	return nil
}

// guarded runs a stream to its end. What ends it before its time cuts the connection: nobody takes a half for the
// whole.
func (s *Server) guarded(st *stream, out *sse) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err = st.run(s.draining, out); out.gone.Load() {
		return nil
	}
	if err = ended(s.draining, err, out); err != nil {
		return err
	}
	if out.finish() != nil {
		return nil
	}
	return nil
}

// takeOver takes the connection and sends the head of the answer; ok is false where it stays with net/http.
func (s *Server) takeOver(c *gin.Context) (out *sse, ok bool) {
	if c.Request.ProtoMajor != 1 || c.Request.ProtoMinor != 1 {
		return nil, false
	}
	if u, wraps := c.Writer.(interface{ Unwrap() http.ResponseWriter }); wraps {
		if _, can := u.Unwrap().(http.Hijacker); !can { // gin takes it for granted
			return nil, false
		}
	}
	h := c.Writer.Header()
	conn, _, err := c.Writer.Hijack()
	if err != nil {
		return nil, false
	}
	out = &sse{to: conn, conn: conn, wall: s.wall, enc: s.encoder, packed: acceptsGzip(c.Request)}
	streamHead(h)
	h.Set("Date", s.wall.Now().Format(http.TimeFormat))
	h.Set("Transfer-Encoding", "chunked")
	h.Set("Connection", "close")
	h.Add("Vary", "Accept-Encoding")
	if out.packed {
		h.Set("Content-Encoding", "gzip")
	}
	var head strings.Builder
	head.WriteString("HTTP/1.1 200 OK\r\n")
	_ = h.Write(&head) // a builder takes everything
	head.WriteString("\r\n")
	if out.packed {
		fmt.Fprintf(&head, "%x\r\n%s\r\n", len(gzipHead), gzipHead)
	}
	// A connection that broke shows with the first event.
	_ = conn.SetWriteDeadline(s.wall.Now().Add(writeWithin))
	_, _ = io.WriteString(conn, head.String())
	return out, true
}

// acceptsGzip reads Accept-Encoding as far as streams go: gzip is named, and not refused.
func acceptsGzip(r *http.Request) bool {
	for _, h := range r.Header.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(h, ",") {
			name, q, _ := strings.Cut(strings.TrimSpace(one), ";")
			q = strings.ReplaceAll(q, " ", "")
			if strings.TrimSpace(strings.ToLower(name)) == "gzip" && q != "q=0" && !strings.HasPrefix(q, "q=0.000") {
				return true
			}
		}
	}
	return false
}

// watch waits for the client to close its end, which is all that can come from it, and wakes the stream.
func (s *sse) watch(sub *subscriber) {
	var buf [64]byte
	for read := 0; read < maxHeader; {
		n, err := s.conn.Read(buf[:])
		if err != nil {
			break
		}
		read += n
	}
	s.gone.Store(true)
	_ = s.conn.SetWriteDeadline(time.Unix(1, 0)) // what is being written is written to nobody
	sub.sig.Set()
}

// errGone ends the stream of a client that has closed.
var errGone = errors.New("the client has gone")
