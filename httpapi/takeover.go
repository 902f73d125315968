package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/sse"
)

// stream is one reader's connection and what is written to it.
type stream struct {
	sub *sse.Subscriber
	run func(ctx context.Context, out *sse.Conn) error
}

// serveStream runs a stream until the reader leaves or the server shuts down. It takes the connection over from net/http, whose
// buffers, request and stack cost several times as much memory as a mostly idle reader needs. If that is impossible (HTTP/1.0 or
// HTTP/2) the stream runs inside the request.
func (s *Server) serveStream(c *gin.Context, st *stream, leave func()) error {
	out, ok := sse.TakeOver(c.Writer, c.Request, s.wall, s.encoder)
	if !ok {
		defer leave()
		ctx, cancel := s.streamContext(ask.WithoutCloud(c.Request.Context()))
		defer cancel()
		out := sse.New(c.Writer, s.wall, s.encoder)
		return streamEnd(ctx, st.run(ctx, out), out)
	}
	note := s.noteOf(c)
	c.Set(keyTaken, true)
	s.streams.Go(func() {
		defer leave()
		defer out.Close() //nolint:errcheck // nothing left to send
		st.sub.Attach(out)
		s.streams.Go(func() { out.Watch(st.sub) })
		start := s.wall.Now()
		err := s.runGuarded(st, out)
		note.status, note.bytes, note.err = http.StatusOK, int(out.BytesSent()), err
		s.report(note, s.wall.Now().Sub(start))
	})
	return nil
}

// runGuarded runs a stream to its end. After an error the connection is cut without the final chunk, so that the client knows that it is
// incomplete.
func (s *Server) runGuarded(st *stream, out *sse.Conn) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err = st.run(s.draining, out); out.IsGone() {
		return nil
	}
	if err = streamEnd(s.draining, err, out); err != nil {
		return err
	}
	_ = out.Finish() // the reader may have left
	return nil
}

// errGone ends the stream of a client that closed its connection.
var errGone = errors.New("the client has gone")
