package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

// answer is how a kind of error is told to a client.
type answer struct {
	status int
	retry  string // Retry-After in seconds, where it makes sense to come again
	hide   bool   // the text stays inside
}

// answers is the one table from an error's kind to its status. What is not in it is a 500 without a text.
var answers = map[fault.Kind]answer{
	fault.Invalid:      {status: http.StatusBadRequest},
	fault.Unauthorized: {status: http.StatusUnauthorized},
	fault.Forbidden:    {status: http.StatusForbidden},
	fault.NotFound:     {status: http.StatusNotFound},
	fault.Conflict:     {status: http.StatusConflict},
	fault.TooLarge:     {status: http.StatusRequestEntityTooLarge},
	fault.Throttled:    {status: http.StatusTooManyRequests, retry: "1"},
	fault.Unavailable:  {status: http.StatusServiceUnavailable, retry: "2"},
	fault.Full:         {status: http.StatusServiceUnavailable, retry: "60"},
	fault.Locked:       {status: http.StatusServiceUnavailable, retry: "2", hide: true},
}

// retryable is an error that knows when it makes sense to come again.
type retryable interface {
	error
	RetryAfter() time.Duration
}

// What is no kind: only the router and the listener know it.
const (
	methodNotAllowed = "method_not_allowed"
	notHere          = "not_here" // for a name that is not this machine's
)

// detail is one thing that is wrong with a request.
type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// invalidError is a request with more than one thing to say about it.
type invalidError struct {
	details []detail
}

func (e *invalidError) Error() string {
	parts := make([]string, 0, len(e.details))
	for _, d := range e.details {
		parts = append(parts, d.Field+": "+d.Message)
	}
	return strings.Join(parts, "; ")
}

// failure is an error worked out for the client.
type failure struct {
	status  int
	retry   string
	code    string
	message string
	details []detail

	conflict uint64 // of a write that the cloud refused
}

func failureOf(err error) failure {
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return failure{
			status: http.StatusConflict, code: "refused_by_cloud", conflict: refused.conflict,
			message: "The write was accepted here but refused by the cloud, so it has no effect.",
		}
	}
	if bad, ok := errors.AsType[*invalidError](err); ok {
		return failure{
			status: http.StatusBadRequest, code: "validation", message: "The request is not valid.", details: bad.details,
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failure{status: http.StatusServiceUnavailable, retry: "2", code: "timeout", message: "It took too long."}
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return internalFailure()
	}
	a, ok := answers[e.Kind]
	if !ok {
		return internalFailure()
	}
	f := failure{status: a.status, retry: a.retry, code: e.Code, message: e.Message}
	if later, ok := errors.AsType[retryable](err); ok {
		f.retry = seconds(later.RetryAfter())
	}
	switch e.Code {
	case methodNotAllowed:
		f.status = http.StatusMethodNotAllowed
	case notHere:
		f.status = http.StatusMisdirectedRequest
	}
	if a.hide {
		f.code, f.message = "unavailable", "Not now."
	}
	return f
}

func internalFailure() failure {
	return failure{
		status: http.StatusInternalServerError, code: "internal", message: "Something went wrong on our side.",
	}
}

// fail answers with an error. Its text goes to the access log, which has all of it.
func (s *Server) fail(c *gin.Context, err error) {
	_ = c.Error(err)
	c.Abort()
	if c.Writer.Written() {
		return // a stream that broke off: the status is gone already
	}
	f := failureOf(err)
	h := c.Writer.Header()
	for _, name := range []string{"ETag", "Cache-Control", "Content-Type", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if f.retry != "" && h.Get("Retry-After") == "" {
		h.Set("Retry-After", f.retry)
	}
	switch {
	case s.underMount(c.Request.URL.Path):
		s.failApplication(c, f)
	case wantsHTML(c.Request):
		s.failPage(c, f)
	default:
		s.failProblem(c, f)
	}
}

// applicationError is the shape of every error under an application's mount.
type applicationError struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	} `json:"error"`
}

func (s *Server) failApplication(c *gin.Context, f failure) {
	var body applicationError
	body.Error.Code, body.Error.Message = f.code, f.message
	switch {
	case f.conflict != 0:
		body.Error.Details = map[string]uint64{"conflict": f.conflict}
	case len(f.details) > 0:
		body.Error.Details = f.details
	case f.status >= http.StatusInternalServerError:
		body.Error.Details = map[string]string{"requestId": requestID(c)}
	}
	writeBody(c, f.status, "application/json; charset=utf-8", body)
}

// problem is RFC 9457. Its type is about:blank: the status says what it is, code and detail say more.
type problem struct {
	Type      string   `json:"type"`
	Title     string   `json:"title"`
	Status    int      `json:"status"`
	Detail    string   `json:"detail,omitempty"`
	Instance  string   `json:"instance,omitempty"`
	Code      string   `json:"code"`
	RequestID string   `json:"requestId"`
	Errors    []detail `json:"errors,omitempty"`
}

func problemOf(c *gin.Context, f failure) problem {
	return problem{
		Type: "about:blank", Title: http.StatusText(f.status), Status: f.status, Detail: f.message,
		Instance: c.Request.URL.EscapedPath(), Code: f.code, RequestID: requestID(c), Errors: f.details,
	}
}

func (s *Server) failProblem(c *gin.Context, f failure) {
	writeBody(c, f.status, "application/problem+json", problemOf(c, f))
}

// wantsHTML tells a person's browser from a program: only the first names text/html.
func wantsHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (s *Server) failPage(c *gin.Context, f failure) {
	title, text := http.StatusText(f.status), f.message
	if f.status >= http.StatusInternalServerError {
		text += " The operator finds it under request " + requestID(c) + "."
	}
	body, err := s.pages.Notice(title, text)
	if err != nil {
		_ = c.Error(err)
		s.failProblem(c, f)
		return
	}
	c.Data(f.status, "text/html; charset=utf-8", body)
}
