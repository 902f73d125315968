package dynamoapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Namespaces of error types.
const (
	ofModel    = "com.amazonaws.dynamodb.v20120810#" // declared by the API
	ofCoral    = "com.amazon.coral.service#"         // of the protocol
	ofValidate = "com.amazon.coral.validate#"
)

// Error is a refusal as a client sees it.
type Error struct {
	Status  int    // HTTP status
	Type    string // with namespace
	Message string

	members func(out *wire.Encoder) // writes further members of the body; nil: none
	cause   error                   // for the log
}

// Error returns the type and message.
func (e *Error) Error() string { return e.name() + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) name() string { return e.Type[strings.IndexByte(e.Type, '#')+1:] }

// Wire returns the body of the answer.
func (e *Error) Wire() []byte {
	out := wire.NewEncoder(nil)
	e.write(out)
	return out.Bytes()
}

func (e *Error) write(out *wire.Encoder) {
	out.Begin()
	out.NamedText("__type", e.Type)
	message := "message"
	switch e.name() { // the service is inconsistent
	case "SerializationException", "TransactionCanceledException", "AccessDeniedException", "UnknownOperationException":
		message = "Message"
	}
	out.NamedText(message, e.Message)
	if e.members != nil {
		e.members(out)
	}
	out.End()
}

func refuse(kind, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Type: kind, Message: fmt.Sprintf(format, args...)}
}

func refuseWith(status int, kind, format string, args ...any) *Error {
	e := refuse(kind, format, args...)
	e.Status = status
	return e
}

func errValidation(format string, args ...any) error {
	return refuse(ofValidate+"ValidationException", format, args...)
}

func errUnknownOperation(name string) error {
	e := refuse(ofCoral+"UnknownOperationException", "")
	if name != "" {
		e.Message = fmt.Sprintf("This is not DynamoDB itself, and has no operation %s", name)
	}
	return e
}

func errNoTable() *Error {
	return refuse(ofModel+"ResourceNotFoundException", "Requested resource not found")
}

// refusal converts any error to an *Error. It is the only table from other packages' errors to the API's.
func (a *API) refusal(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*sigv4.Error](err); ok {
		return &Error{Status: e.Status, Type: e.Type, Message: e.Message}
	}
	if failed, ok := errors.AsType[*store.ConditionFailedError](err); ok {
		return conditionFailed(failed)
	}
	if canceled, ok := errors.AsType[*store.TransactionCanceledError](err); ok {
		return transactionCanceled(canceled)
	}
	e := refuseWith(http.StatusInternalServerError, ofModel+"InternalServerError", "The request failed: see the node's log")
	e.cause = err
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Status, e.Type, e.Message = http.StatusServiceUnavailable, ofCoral+"ServiceUnavailableException", "The request was canceled"
	case !ok:
	case f.Kind == fault.Invalid && f.Code == "serialization":
		e.Status, e.Type, e.Message = http.StatusBadRequest, ofCoral+"SerializationException", f.Message
	case f.Code == "idempotent_parameter_mismatch":
		e.Status, e.Type, e.Message = http.StatusBadRequest, ofModel+"IdempotentParameterMismatchException", f.Message
	case f.Kind == fault.Invalid:
		e.Status, e.Type, e.Message = http.StatusBadRequest, ofValidate+"ValidationException", f.Message
	case f.Code == "table_not_found": // the service names it only for operations on tables
		return errNoTable()
	case f.Kind == fault.NotFound:
		e.Status, e.Type, e.Message = http.StatusBadRequest, ofModel+"ResourceNotFoundException", f.Message
	case f.Code == "table_exists", f.Code == "table_sends":
		e.Status, e.Type, e.Message = http.StatusBadRequest, ofModel+"ResourceInUseException", f.Message
	case f.Kind == fault.Full, f.Kind == fault.Unavailable: // SDKs retry by themselves
		e.Status, e.Type, e.Message = http.StatusServiceUnavailable, ofCoral+"ServiceUnavailableException", f.Message
		_, ok := errors.AsType[later](err)
		if ok || f.Code == "store_stalled" || f.Code == "store_busy" {
			e.cause = nil // logged elsewhere: a full store once, and for waiting writes the transaction that holds the writer
		}
	}
	return e
}

// isNumber reports whether an error is about a number that DynamoDB does not accept.
func isNumber(err error) bool {
	return errors.Is(err, attr.NumberError{})
}

// numberAlone words a number's error like the newer checks of the service (GetItem, BatchGetItem, Query), which show even an empty
// text. Other errors are returned unchanged.
func numberAlone(err error) error {
	if !isNumber(err) {
		return err
	}
	return errValidation("%s", numberMessage(err))
}

// numberDetected is numberAlone for PutItem, UpdateItem and DeleteItem, which report it as a validation error.
func numberDetected(err error) error {
	if !isNumber(err) {
		return err
	}
	return errDetected(numberMessage(err))
}

func numberMessage(err error) string {
	message := err.Error()
	if strings.HasSuffix(message, "numeric value") {
		message += ": "
	}
	return message
}

// errDetected returns one validation error in the words of the service's newer checks.
func errDetected(message string) error {
	return errValidation("1 validation error detected: %s", message)
}

// later is an error that knows when to retry. It is not a failure.
type later interface {
	error
	RetryAfter() time.Duration
}

func conditionFailed(failed *store.ConditionFailedError) *Error {
	e := refuse(ofModel+"ConditionalCheckFailedException", "The conditional request failed")
	if failed.Old != nil {
		e.members = func(out *wire.Encoder) { writeItem(out, "Item", failed.Old) }
	}
	return e
}

func transactionCanceled(canceled *store.TransactionCanceledError) *Error {
	e := refuse(ofModel+"TransactionCanceledException", "%s", canceled.Error())
	e.members = func(out *wire.Encoder) {
		out.NamedArray("CancellationReasons")
		for _, r := range canceled.Reasons {
			out.Begin()
			out.NamedText("Code", r.Code)
			if r.Message != "" {
				out.NamedText("Message", r.Message)
			}
			if r.Item != nil {
				writeItem(out, "Item", r.Item)
			}
			out.End()
		}
		out.EndArray()
	}
	return e
}

// writeItem writes a member with an item.
func writeItem(out *wire.Encoder, name string, it attr.Item) {
	out.Name(name)
	out.Item(it)
}

// withoutOld removes the item from the error of a failed condition, unless the request wants it.
func withoutOld(err error, wanted wire.Opt[string]) error {
	failed, ok := errors.AsType[*store.ConditionFailedError](err)
	if !ok || wanted.V == "ALL_OLD" {
		return err
	}
	return &store.ConditionFailedError{Table: failed.Table}
}
