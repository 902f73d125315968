package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/rebind"
)

const (
	keyRequestID = "touchline.requestID"
	keyArrived   = "touchline.arrived"
	keyQuiet     = "touchline.quiet"
	keyTaken     = "touchline.taken"
	maxBody      = 1 << 20
)

// enter makes the server available to handlers, and sets a request id of our own: one sent by the client could be forged.
func (s *Server) enter(c *gin.Context) {
	c.Set(keyServer, s)
	c.Set(keyArrived, s.cfg.Clock.Wall())
	id := rand.Text()
	c.Set(keyRequestID, id)
	c.Header("X-Request-Id", id)
}

// sinceArrival returns how long ago the request arrived.
func sinceArrival(c *gin.Context) time.Duration {
	arrived := c.GetTime(keyArrived)
	if arrived.IsZero() {
		return 0
	}
	return max(0, serverOf(c).cfg.Clock.Wall().Sub(arrived))
}

func requestID(c *gin.Context) string { return c.GetString(keyRequestID) }

type refusedKey struct{}

// elsewhere answers a request addressed to another machine's name.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	s.answerMisdirected(w, r, rebind.Refusal)
}

// answerMisdirected answers a request that this port does not serve.
func (s *Server) answerMisdirected(w http.ResponseWriter, r *http.Request, why string) {
	s.answerRefused(w, r, &fault.Error{Kind: fault.Invalid, Code: notHere, Message: why})
}

// answerRefused answers a request that no route sees, in the shape of every other error.
func (s *Server) answerRefused(w http.ResponseWriter, r *http.Request, err error) {
	s.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), refusedKey{}, err)))
}

// refuseBusy answers a client who has more requests in progress than one client may.
func (s *Server) refuseBusy(w http.ResponseWriter, r *http.Request) {
	s.answerRefused(w, r, fault.New(fault.Unavailable, "too_many_requests", "You have too many requests in progress."))
}

func (s *Server) notRefused(c *gin.Context) {
	if err, ok := c.Request.Context().Value(refusedKey{}).(error); ok {
		s.fail(c, err)
	}
}

// guard sets security headers on every answer, and limits the size of request bodies.
func guard(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
}

// quiet marks routes that are called all the time: successes are logged at debug level.
func quiet(c *gin.Context) { c.Set(keyQuiet, true) }

// observe measures a request and logs it once, with its error if any.
func (s *Server) observe(c *gin.Context) {
	start := s.wall.Now()
	s.noteUntrusted(c.Request)
	c.Next()
	if c.GetBool(keyTaken) {
		return // a stream: reported when it ends
	}
	n := s.noteOf(c)
	n.status, n.bytes = c.Writer.Status(), max(0, c.Writer.Size())
	if len(c.Errors) > 0 {
		n.err = c.Errors.Last().Err
	}
	s.report(n, s.wall.Now().Sub(start))
}

// note is what the log and the metrics record of a finished request.
type note struct {
	method, route, path, client, id string
	quiet                           bool
	app                             *mounted // nil: the node's own
	status, bytes                   int
	err                             error
}

func (s *Server) noteOf(c *gin.Context) note {
	n := note{
		method: knownMethod(c.Request.Method), route: c.FullPath(), path: strings.Clone(loggedPath(c.Request.URL.Path, c.Param("code"))),
		client: s.clientText(c.Request), id: requestID(c), quiet: c.GetBool(keyQuiet), app: appOf(c),
	}
	if n.route == "" {
		n.route = "none" // otherwise every guessed path would become a metric
	}
	return n
}

// loggedPath hides tokens and the value of the route's :code parameter in a path: they are secrets.
func loggedPath(path, code string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if IsToken(part) || code != "" && part == code {
			parts[i] = "..."
		}
	}
	return strings.Join(parts, "/")
}

func (s *Server) report(n note, took time.Duration) {
	s.metrics.request(n.method, n.route, n.status, took)
	failed := n.status >= http.StatusInternalServerError && n.status != http.StatusServiceUnavailable
	if n.app != nil {
		n.app.countRequest(failed)
	}
	level := slog.LevelInfo
	unreadable := fault.Is(n.err, fault.Unreadable) // the store has told the log once, when it was met first
	switch {
	case unreadable:
	case failed:
		level = slog.LevelError
	case n.quiet:
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", n.method), slog.String("path", n.path), slog.Int("status", n.status),
		slog.Int("bytes", n.bytes), slog.Duration("took", took), slog.String("client", n.client), slog.String("requestId", n.id),
	}
	if n.err != nil && !unreadable {
		attrs = append(attrs, slog.Any("err", n.err))
	}
	s.log.LogAttrs(context.Background(), level, "request", attrs...)
}

// rescue turns a panic into an error answer. If the answer has already begun it cuts the connection, so that no client takes a partial
// answer for a complete one.
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

// wrap converts a Handler to gin's type.
func (s *Server) wrap(h Handler) gin.HandlerFunc {
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

// noRoute redirects a browser from an application's mount to its pages; other unknown addresses are 404s.
func (s *Server) noRoute(c *gin.Context) {
	for _, m := range s.apps {
		if wantsHTML(c.Request) && len(m.Pages) > 0 && m.prefix == strings.TrimSuffix(c.Request.URL.Path, "/") {
			c.Redirect(http.StatusSeeOther, m.scope())
			return
		}
	}
	s.fail(c, nowhere())
}

func nowhere() error {
	return fault.New(fault.NotFound, "not_found", "There is nothing at this address.")
}

func (s *Server) noMethod(c *gin.Context) {
	allowed := c.Writer.Header().Get("Allow")
	s.fail(c, fault.New(fault.Invalid, methodNotAllowed, "This address accepts only %s.", strings.ReplaceAll(allowed, ", ", " and ")))
}

// IsToken reports whether a text looks like a device or session token: at least 32 hexadecimal digits.
func IsToken(text string) bool {
	return len(text) >= 32 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
