package simcloud

import (
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/replica/intent"
)

func refuse(class intent.Class, format string, args ...any) *intent.Error {
	return &intent.Error{Class: class, Err: fmt.Errorf(format, args...)}
}

func invalid(format string, args ...any) *intent.Error {
	return refuse(intent.Validation, "ValidationException: "+format, args...)
}

func tooLarge() *intent.Error {
	return refuse(intent.TooLarge, "ValidationException: Item size has exceeded the maximum allowed size")
}

// emptyKeyError is separate from other faults of keys because DynamoDB refuses a whole transaction for it.
type emptyKeyError struct{ refusal *intent.Error }

// Error implements error.
func (e emptyKeyError) Error() string { return e.refusal.Error() }

// Unwrap returns the refusal.
func (e emptyKeyError) Unwrap() error { return e.refusal }

// asError converts an error of expressions or values to one of the cloud.
func asError(err error) *intent.Error {
	if e, ok := errors.AsType[*intent.Error](err); ok {
		return e
	}
	if fault.Is(err, fault.Invalid) {
		return invalid("%v", err)
	}
	panic(err) // nothing else can fail in memory
}
