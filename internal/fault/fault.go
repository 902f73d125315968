// Package fault is the error taxonomy of the node. An adapter translates foreign errors once, where they enter; the edge (HTTP, CLI) maps
// them once, where they leave. An error without a Kind is Internal and its text stays inside the process.
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
	Unauthorized             // the caller is unknown: 401
	Forbidden                // the caller is known but not allowed: 403
	NotFound                 // the thing does not exist: 404
	Conflict                 // the current state does not allow it: 409
	TooLarge                 // over a size limit: 413
	Throttled                // retry later, more slowly: 429
	Unavailable              // retry later: 503
	Full                     // no space on disk or in a budget: 507 inside, 503 to clients
	Locked                   // another process has the file
	Damaged                  // the data cannot be trusted
	Unreadable               // a stored record is in a form that this program does not know: 500 with its text
)

// Error is an error with a decision attached. Message is safe to show to the caller.
type Error struct {
	Kind    Kind
	Code    string // stable, snake_case: clients depend on it
	Message string
	Err     error // the cause, for logs only
	Lack    bool  // it says that something is missing, although its kind does not; see ForLack
}

// New returns an error of the given kind. The message is shown to the caller, so it must not contain secrets or other users' paths.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause, which is kept for errors.Is and logs but never shown.
func Wrap(err error, kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// ForLack marks an error that says that something is missing, although its kind does not: a scorer who is not in a team of the game is
// Invalid. Before such an error is answered, the cloud is asked for what is missing.
func (e *Error) ForLack() *Error {
	e.Lack = true
	return e
}

// LacksSomething reports whether an error says that something does not exist, or that somebody is not allowed what a missing row may
// allow: NotFound, Forbidden, Unauthorized, or one marked by ForLack.
func LacksSomething(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Lack || e.Kind == NotFound || e.Kind == Forbidden || e.Kind == Unauthorized)
}

// Error returns the message and, for logs, the cause.
func (e *Error) Error() string {
	if e.Err == nil || strings.HasSuffix(e.Message, e.Err.Error()) { // the message already includes the cause
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first Error in a chain, or Internal if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether the first Error in err's chain has the given kind.
func Is(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}
