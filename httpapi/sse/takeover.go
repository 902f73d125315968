package sse

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/serve"
)

// maxTalk is how many bytes a client may send on its stream before it counts as gone.
const maxTalk = 16 << 10

// TakeOver takes a connection over from net/http and sends the header of the answer. If ok is false the connection stays with net/http.
func TakeOver(w gin.ResponseWriter, r *http.Request, wall clock.Clock, enc *Encoder) (out *Conn, ok bool) {
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 {
		return nil, false
	}
	if u, wraps := w.(interface{ Unwrap() http.ResponseWriter }); wraps {
		if _, can := u.Unwrap().(http.Hijacker); !can { // gin would panic
			return nil, false
		}
	}
	h := w.Header()
	conn, _, err := w.Hijack()
	if err != nil {
		return nil, false
	}
	out = &Conn{to: conn, conn: conn, wall: wall, enc: enc, packed: serve.AcceptsGzip(r)}
	streamHead(h)
	h.Set("Date", wall.Wall().Format(http.TimeFormat))
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
	// A broken connection shows at the first event.
	_ = conn.SetWriteDeadline(wall.Wall().Add(writeWithin))
	_, _ = io.WriteString(conn, head.String())
	return out, true
}

// Watch waits until the client closes the connection, and then wakes the stream. Clients send nothing else on a stream.
func (c *Conn) Watch(sub *Subscriber) {
	var buf [64]byte
	for read := 0; read < maxTalk; {
		n, err := c.conn.Read(buf[:])
		if err != nil {
			break
		}
		read += n
	}
	c.gone.Store(true)
	_ = c.conn.SetWriteDeadline(time.Unix(1, 0)) // nobody reads what is being written
	sub.Sig.Set()
}
