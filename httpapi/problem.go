package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
)

// answer is the HTTP form of a kind of error.
type answer struct {
	status int
	retry  string // Retry-After in seconds, if a retry makes sense
	hide   bool   // clients do not see the text
}

// answers maps kinds of errors to statuses. Any other error is a 500 without its text.
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
	fault.Unreadable:   {status: http.StatusInternalServerError},
}

// retryable is an error that knows when a retry makes sense.
type retryable interface {
	error
	RetryAfter() time.Duration
}

// Codes with a status of their own: only the router and the listener return them.
const (
	methodNotAllowed = "method_not_allowed"
	notHere          = "not_here" // addressed to another machine's name
)

// Failure is an error as clients see it.
type Failure struct {
	Status    int
	Code      string
	Message   string
	Details   []bind.Detail // of an invalid request
	RequestID string
	Conflict  uint64 // number of the conflict if the cloud refused the write; otherwise 0

	retry string // Retry-After
}

// FailureOf translates an error. An unknown error becomes a 500 without its text.
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
	if unknown, ok := errors.AsType[*ask.UnknownError](err); ok {
		f := unknown.Fault()
		return Failure{Status: http.StatusServiceUnavailable, retry: seconds(unknown.RetryAfter()), Code: f.Code, Message: f.Message}
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

// fail answers with an error. Its full text goes to the access log.
func (s *Server) fail(c *gin.Context, err error) {
	_ = c.Error(err)
	c.Abort()
	if c.Writer.Written() {
		return // a stream that broke off: its status has been sent
	}
	f := FailureOf(err)
	if of := handingOf(c); of != nil {
		of.failure, of.params = &f, c.Params
	}
	h := c.Writer.Header()
	for _, name := range []string{headerCloud, "ETag", "Cache-Control", "Content-Type", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if f.retry != "" && h.Get("Retry-After") == "" {
		h.Set("Retry-After", f.retry)
	}
	f.RequestID = requestID(c)
	if !safe(c.Request) { // lets a client with queued writes tell our refusal from a proxy's
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

// Problem is an error of RFC 9457. Its type is about:blank: the status is the type, code and detail are more precise.
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

// ErrorObject returns an error body in a shape that several applications use (App.Problem): {"error": {"code": "not_found", "message":
// "…", "details": […]}}, without details if there are none.
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

// wantsHTML reports whether a person's browser is asking: programs do not name text/html.
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

// Fault converts the problem back to an error, for clients in this repository.
func (p Problem) Fault() error {
	kind := fault.Unavailable
	for k, a := range answers {
		if a.status == p.Status && !a.hide && p.Status < http.StatusInternalServerError {
			kind = k
		}
	}
	return fault.New(kind, p.Code, "%s", p.Detail)
}
