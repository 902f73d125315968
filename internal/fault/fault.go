// Package fault is the one error taxonomy of the node. An adapter translates a foreign error once, where it
// enters; the edge (HTTP, CLI) maps it once, where it leaves. An error that carries no Kind is Internal and its
// text stays inside the process.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what a caller can do about an error.
type Kind uint8

// The kinds, from "ours" to "theirs".
const (
	Internal     Kind = iota // a bug or an unknown foreign error: 500, text withheld
	Invalid                  // the request can never succeed as it is: 400
	Unauthorized             // who is asking is not known: 401
	Forbidden                // known, and not allowed: 403
	NotFound                 // the thing does not exist: 404
	Conflict                 // the present state forbids it: 409
	TooLarge                 // a size limit: 413
	Throttled                // later, at a slower pace: 429
	Unavailable              // not now: 503
	Full                     // no room on disk or in a budget: 507 inside, 503 to clients
	Locked                   // another process holds the file
	Damaged                  // the file cannot be trusted
)

// Error is an error with a decision attached. Message is safe to show to whoever caused it.
type Error struct {
	Kind    Kind
	Code    string // stable, snake_case: clients switch on it
	Message string
	Err     error // the cause, for logs only
}

// New makes an error of the given kind. The message is shown to the caller: no secrets, no paths of other people.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause that is kept for errors.Is and logs but never shown.
func Wrap(err error, kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// Error returns the message and, for logs, the cause behind it.
func (e *Error) Error() string {
	if e.Err == nil || strings.HasSuffix(e.Message, e.Err.Error()) { // the message tells of the cause already
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf finds the kind in an error chain; Internal when there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether the chain of err holds an Error of that kind.
func Is(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}
