package intent

import (
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Call is one operation as DynamoDB has it. A failed condition is always answered with the item (ALL_OLD).
type Call struct {
	Op        store.Op // 0: a ConditionCheck, only within a transaction
	Table     string
	Key       attr.Item
	Item      attr.Item // of a Put, sidecar included
	Update    string
	Condition string
	expr.Params
}

// Class sorts the answers of the cloud by what they tell about the call.
type Class uint8

// The classes. Unknown is the zero value on purpose: what nobody recognised may have been applied.
const (
	Unknown         Class = iota // applied or not: a timeout, a 5xx, an end of file after sending, TransactionInProgress, a token mismatch
	Applied                      // done
	ConditionFailed              // the condition of a single call did not hold: Old
	Canceled                     // a transaction was canceled: Reasons
	Throttled                    // not applied: throttled, or TransactionConflict
	Offline                      // not sent: no name, no route, refused, no TLS
	Credentials                  // expired, unknown or wrongly signed
	Validation                   // the request, or what it would make of the item, is not valid
	TooLarge                     // the item would pass 400 KB
	NoTable                      // ResourceNotFound
	Denied                       // no permission for the table
)

// String names the class for logs and records.
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

// Error is what a Cloud answers instead of success: the adapter has sorted the foreign error, once.
type Error struct {
	Class   Class
	Old     attr.Item // with ConditionFailed: the item, sidecar included; nil: there is none
	Reasons []Reason  // with Canceled: one for each call, in their order
	Err     error     // the foreign error, without secrets
}

// Reason is why a transaction's call was in the way; Class Applied: it was not.
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
