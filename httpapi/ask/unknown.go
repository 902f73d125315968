package ask

import (
	"errors"
	"math"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// retry is when it makes sense to try again if the cloud does not answer.
const retry = 5 * time.Second

// UnknownError is an error that says that something is missing, when nobody can know that now. Its kind is that of Absent, so that pages
// can be shown without what is missing; answered, it is a 503.
type UnknownError struct {
	Absent error
	Busy   bool // the budget of questions is spent; else the cloud does not answer
	Retry  time.Duration
}

// unknown returns that err is not known because of why.
func unknown(err, why error) error {
	if over, ok := errors.AsType[*OverBudgetError](why); ok {
		return &UnknownError{Absent: err, Busy: true, Retry: over.Wait}
	}
	return &UnknownError{Absent: err, Retry: retry}
}

// Error implements error.
func (e *UnknownError) Error() string { return "cannot be known now: " + e.Absent.Error() }

// Unwrap implements errors.Unwrap.
func (e *UnknownError) Unwrap() error { return e.Absent }

// RetryAfter returns when it makes sense to try again.
func (e *UnknownError) RetryAfter() time.Duration { return e.Retry }

// Fault returns the error to answer with.
func (e *UnknownError) Fault() *fault.Error {
	what := "Whether this can be done cannot be known now"
	switch fault.KindOf(e.Absent) { //nolint:exhaustive // the others are refusals of what was asked for
	case fault.NotFound:
		what = "Whether this exists cannot be known now"
	case fault.Forbidden, fault.Unauthorized:
		what = "Whether you may do this cannot be known now"
	}
	why := "this node does not have it, and its cloud, which may, does not answer"
	if e.Busy {
		why = "this node does not have it, and has asked its cloud too much already"
	}
	return fault.New(fault.Unavailable, "unknown_now", "%s: %s. Try again in %.0f s.", what, why, math.Ceil(e.Retry.Seconds()))
}

// IsUnknown reports whether an error says that something is missing, although that cannot be known now.
func IsUnknown(err error) bool {
	_, ok := errors.AsType[*UnknownError](err)
	return ok
}
