package sportmonks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Codes of this package's errors, in fault.Error.Code.
const (
	CodeConfig       = "feed_config"       // invalid configuration
	CodeBadRequest   = "feed_bad_request"  // 400, or a malformed id
	CodeUnauthorized = "feed_unauthorized" // 401: unknown token
	CodeForbidden    = "feed_forbidden"    // 403: not in the plan
	CodeNotFound     = "feed_not_found"    // 404: also after rescheduling
	CodeThrottled    = "feed_throttled"    // 429
	CodeBudget       = "feed_budget"       // not sent: the hour's calls are used up
	CodeUnavailable  = "feed_unavailable"  // network, 5xx and other errors that may pass
	CodeResting      = "feed_resting"      // not sent: the circuit breaker is open
	CodeNotJSON      = "feed_not_json"     // an HTML page, a captive portal, a redirect
	CodeBadJSON      = "feed_bad_json"     // JSON that is truncated, or of unexpected types
	CodeTooLarge     = "feed_too_large"    // over the body cap
)

// Error is the type of all errors of a Client. It never contains the token.
type Error struct {
	Endpoint Endpoint
	Status   int          // of the last answer, 0 without one
	Until    time.Time    // the endpoint is not called before; zero: it may be called
	Fault    *fault.Error // kind, code and text
}

// Error implements error.
func (e *Error) Error() string {
	text := "feed: "
	if e.Endpoint != "" {
		text += string(e.Endpoint) + ": "
	}
	text += e.Fault.Error()
	if !e.Until.IsZero() {
		text += "; not asked again before " + e.Until.Format(time.RFC3339)
	}
	return text
}

// Unwrap returns the fault, so that fault.KindOf and errors.Is find kind and cause.
func (e *Error) Unwrap() error { return e.Fault }

// statusError converts an answer other than 200 or 304.
func statusError(name Endpoint, status int) *Error {
	f := fault.New(fault.Unavailable, CodeUnavailable, "answered %d", status)
	switch {
	case status == http.StatusBadRequest:
		f = fault.New(fault.Invalid, CodeBadRequest, "answered 400, the request is malformed")
	case status == http.StatusUnauthorized:
		f = fault.New(fault.Unauthorized, CodeUnauthorized, "answered 401, the token is not accepted")
	case status == http.StatusForbidden:
		f = fault.New(fault.Forbidden, CodeForbidden, "answered 403, not in the plan of this token")
	case status == http.StatusNotFound:
		f = fault.New(fault.NotFound, CodeNotFound, "answered 404, no such record")
	case status == http.StatusTooManyRequests:
		f = fault.New(fault.Throttled, CodeThrottled, "answered 429, too many requests")
	case status >= 300 && status < 400:
		f = fault.New(fault.Unavailable, CodeNotJSON, "answered %d, a redirect, which is not followed", status)
	}
	return &Error{Endpoint: name, Status: status, Fault: f}
}

// foreign converts an error of the HTTP client. It drops the URL of a *url.Error; a cause whose text contains
// the token (a proxy or server can cause that) is replaced by its redacted text.
func (c *Client) foreign(name Endpoint, err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if text := err.Error(); c.redact(text) != text {
		err = errors.New(c.redact(text))
	}
	what := "no answer"
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		what = "no answer in time"
	}
	return &Error{Endpoint: name, Fault: fault.Wrap(err, fault.Unavailable, CodeUnavailable, "%s", what)}
}

// redact removes the token from a text.
func (c *Client) redact(text string) string {
	if c.token == "" {
		return text
	}
	text = strings.ReplaceAll(text, url.QueryEscape(c.token), "[token]")
	return strings.ReplaceAll(text, c.token, "[token]")
}

// badJSON returns the error for a reply that cannot be decoded. It says where, but does not quote the feed's content.
func badJSON(name Endpoint, err error) *Error {
	return &Error{
		Endpoint: name, Status: http.StatusOK,
		Fault: fault.Wrap(err, fault.Unavailable, CodeBadJSON, "the reply cannot be read"),
	}
}

func invalid(code, format string, args ...any) *Error {
	return &Error{Fault: fault.New(fault.Invalid, code, "%s", fmt.Sprintf(format, args...))}
}
