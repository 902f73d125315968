package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/bind"
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

// Failure is an error translated for the client.
type Failure struct {
	Status    int
	Code      string
	Message   string
	Details   []bind.Detail // of a request that is not valid
	RequestID string
	Conflict  uint64 // of a write that the cloud refused; 0: of another error

	retry string // Retry-After
}

// FailureOf translates an error. An unknown error becomes a 500 without a text.
func FailureOf(err error) Failure {
	if refused, ok := errors.AsType[*refusedError](err); ok {
		return Failure{
			Status: http.StatusConflict, Code: "refused_by_cloud", Conflict: refused.conflict,
			Message: "The write was accepted here but refused by the cloud, so it has no effect.",
		}
	}
	if bad, ok := errors.AsType[*bind.Error](err); ok {
		return Failure{
			Status: http.StatusBadRequest, Code: "validation", Message: "The request is not valid.", Details: bad.Details,
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Failure{Status: http.StatusServiceUnavailable, retry: "2", Code: "timeout", Message: "It took too long."}
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return internalFailure()
	}
	a, ok := answers[e.Kind]
	if !ok {
		return internalFailure()
	}
	f := Failure{Status: a.status, retry: a.retry, Code: e.Code, Message: e.Message}
	if later, ok := errors.AsType[retryable](err); ok {
		f.retry = seconds(later.RetryAfter())
	}
	switch e.Code {
	case methodNotAllowed:
		f.Status = http.StatusMethodNotAllowed
	case notHere:
		f.Status = http.StatusMisdirectedRequest
	}
	if a.hide {
		f.Code, f.Message = "unavailable", "Not now."
	}
	return f
}

func internalFailure() Failure {
	return Failure{
		Status: http.StatusInternalServerError, Code: "internal", Message: "Something went wrong on our side.",
	}
}

// fail answers with an error. Its text goes to the access log, which has all of it.
func (s *Server) fail(c *gin.Context, err error) {
	_ = c.Error(err)
	c.Abort()
	if c.Writer.Written() {
		return // a stream that broke off: the status is gone already
	}
	f := FailureOf(err)
	h := c.Writer.Header()
	for _, name := range []string{headerCloud, "ETag", "Cache-Control", "Content-Type", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if f.retry != "" && h.Get("Retry-After") == "" {
		h.Set("Retry-After", f.retry)
	}
	f.RequestID = requestID(c)
	if !safe(c.Request) { // who holds writes back can tell our refusal from that of something on the way
		h.Set(headerNode, s.cfg.Store.Node())
	}
	m := s.appAt(c.Request.URL.Path)
	switch {
	case m != nil && m.Problem != nil:
		body := m.Problem(&f)
		writeBody(c, f.Status, jsonType, body)
	case m == nil && wantsHTML(c.Request):
		s.failPage(c, f)
	default:
		s.failProblem(c, f)
	}
}

// Problem is RFC 9457. Its type is about:blank: the status says what it is, code and detail say more.
type Problem struct {
	Type      string        `json:"type"`
	Title     string        `json:"title"`
	Status    int           `json:"status"`
	Detail    string        `json:"detail,omitempty"`
	Instance  string        `json:"instance,omitempty"`
	Code      string        `json:"code"`
	RequestID string        `json:"requestId"`
	Errors    []bind.Detail `json:"errors,omitempty"`
}

type errorObject[D any] struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details []D    `json:"details,omitempty"`
}

// ErrorObject returns the body of an error in a shape that several applications use (App.Problem): {"error": {"code":
// "not_found", "message": "…", "details": […]}}. details is left out if there are none.
func ErrorObject[D any](code, message string, details []D) any {
	return map[string]errorObject[D]{"error": {code, message, details}}
}

// ProblemOf returns a failure in the shape of the node's own routes.
func ProblemOf(c *gin.Context, f Failure) Problem {
	return Problem{
		Type: "about:blank", Title: http.StatusText(f.Status), Status: f.Status, Detail: f.Message,
		Instance: c.Request.URL.EscapedPath(), Code: f.Code, RequestID: requestID(c), Errors: f.Details,
	}
}

func (s *Server) failProblem(c *gin.Context, f Failure) {
	writeBody(c, f.Status, "application/problem+json", ProblemOf(c, f))
}

// wantsHTML tells a person's browser from a program: only the first names text/html.
func wantsHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (s *Server) failPage(c *gin.Context, f Failure) {
	title, text := http.StatusText(f.Status), f.Message
	if f.Status >= http.StatusInternalServerError {
		text += " The operator finds it under request " + requestID(c) + "."
	}
	body, err := s.pages.Notice(title, text)
	if err != nil {
		_ = c.Error(err)
		s.failProblem(c, f)
		return
	}
	c.Data(f.Status, htmlType, body)
}

// Fault returns the problem as an error, for clients in this repository.
func (p Problem) Fault() error {
	kind := fault.Unavailable
	for k, a := range answers {
		if a.status == p.Status && !a.hide && p.Status < http.StatusInternalServerError {
			kind = k
		}
	}
	return fault.New(kind, p.Code, "%s", p.Detail)
}
