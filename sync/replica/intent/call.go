package intent

import (
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Call is one DynamoDB operation. A failed condition always returns the item (ALL_OLD).
type Call struct {
	Op        store.Op // 0: a ConditionCheck, only in a transaction
	Table     string
	Key       attr.Item
	Item      attr.Item // of a Put, including the sidecar
	Update    string
	Condition string
	expr.Params
}

// Class classifies the cloud's answers by what they say about the call.
type Class uint8

// The classes. Unknown is deliberately the zero value: a call with an unrecognized answer may have been applied.
const (
	Unknown         Class = iota // applied or not: a timeout, a 5xx, EOF after sending, TransactionInProgress, a token mismatch
	Applied                      // success
	ConditionFailed              // the condition of a single call failed: see Old
	Canceled                     // a transaction was canceled: see Reasons
	Throttled                    // not applied: throttled, or TransactionConflict
	Offline                      // not sent: DNS, no route, connection refused, TLS
	Credentials                  // expired, unknown or wrong signature
	Validation                   // the request, or its result for the item, is not valid
	TooLarge                     // the item would exceed 400 KB
	NoTable                      // ResourceNotFound
	Denied                       // no permission for the table
)

// String returns the class's name for logs and records.
func (c Class) String() string {
	names := [...]string{
		"unknown", "applied", "condition failed", "canceled", "throttled", "offline", "credentials", "validation", "too large",
		"no table", "denied",
	}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("class %d", c)
}

// Error is what a Cloud returns instead of success. The adapter has classified the foreign error.
type Error struct {
	Class   Class
	Old     attr.Item // with ConditionFailed: the item including its sidecar; nil: no item
	Reasons []Reason  // with Canceled: one per call, in the same order
	Err     error     // the foreign error, without secrets
}

// Reason says why a call of a transaction failed. Class Applied means that it did not.
type Reason struct {
	Class   Class
	Old     attr.Item // with ConditionFailed
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Class.String() + ": " + e.Err.Error()
	}
	return e.Class.String()
}

// Unwrap returns the foreign error.
func (e *Error) Unwrap() error { return e.Err }
