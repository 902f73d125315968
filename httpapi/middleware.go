package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

const (
	keyRequestID = "touchline.requestID"
	keyQuiet     = "touchline.quiet"
	maxBody      = 1 << 20
)

// identify gives each request an id of our own: one that came with the request could be anybody's invention.
func identify(c *gin.Context) {
	id := rand.Text()
	c.Set(keyRequestID, id)
	c.Header("X-Request-Id", id)
}

func requestID(c *gin.Context) string { return c.GetString(keyRequestID) }

// guard sets what a browser must and must not do with anything we send, and bounds what we read.
func guard(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
}

// quiet marks routes that are asked all the time: they are logged at debug level while they work.
func quiet(c *gin.Context) { c.Set(keyQuiet, true) }

// observe measures a request and logs it, once, with the error if there was one.
func (s *Server) observe(c *gin.Context) {
	start := s.wall.Now()
	c.Next()
	took := s.wall.Now().Sub(start)
	route := c.FullPath()
	if route == "" {
		route = "none" // else every guessed path were a metric of its own
	}
	status := c.Writer.Status()
	s.metrics.request(c.Request.Method, route, status, took)

	level := slog.LevelInfo
	switch {
	case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case c.GetBool(keyQuiet):
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", c.Request.Method), slog.String("path", c.Request.URL.Path), slog.Int("status", status),
		slog.Int("bytes", max(0, c.Writer.Size())), slog.Duration("took", took),
		slog.String("client", clientAddr(c.Request)), slog.String("requestId", requestID(c)),
	}
	if len(c.Errors) > 0 {
		attrs = append(attrs, slog.Any("err", c.Errors.Last().Err))
	}
	s.log.LogAttrs(context.WithoutCancel(c.Request.Context()), level, "request", attrs...)
}

// clientAddr is who is connected. Forwarding headers are not believed, and gin's own reading has no room for the zone
// of a link-local address.
func clientAddr(r *http.Request) string {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return addr.Addr().WithZone("").Unmap().String()
}

// rescue turns a panic into the answer that the route's clients understand. Where the answer has begun already the
// connection is cut, so that nobody takes a half for the whole.
func (s *Server) rescue(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v)
		}
		begun := c.Writer.Written()
		s.fail(c, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		if begun {
			panic(http.ErrAbortHandler)
		}
	}()
	c.Next()
}

// handler is a route's code: it answers, or returns the error to answer with.
type handler func(c *gin.Context) error

// wrap makes a gin handler of ours.
func (s *Server) wrap(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := h(c)
		switch {
		case err == nil:
		case c.Request.Context().Err() != nil && errors.Is(err, context.Canceled):
			c.Abort() // the client has gone
		default:
			s.fail(c, err)
		}
	}
}

func (s *Server) noRoute(c *gin.Context) {
	s.fail(c, fault.New(fault.NotFound, "not_found", "There is nothing at this address."))
}

func (s *Server) noMethod(c *gin.Context) {
	allowed := c.Writer.Header().Get("Allow")
	s.fail(c, fault.New(fault.Invalid, methodNotAllowed, "This address answers %s only.", strings.ReplaceAll(allowed, ", ", " and ")))
}
