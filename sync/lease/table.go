package lease

import (
	"context"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Table is the locks table: in the local store, or in DynamoDB where nodes share a cloud.
type Table interface {
	// Get reads a lock consistently; ok is false if it has no record.
	Get(ctx context.Context, key string) (r Record, ok bool, err error)
	// Update applies a change under its condition and returns the new record. If the condition does not hold it returns a
	// *ConditionFailedError with the current record. After any other error the change may have been made, and may even be
	// made later.
	Update(ctx context.Context, c Change) (Record, error)
	// List reads all records.
	List(ctx context.Context) ([]Record, error)
}

// Change is a conditional UpdateItem. The expressions need no names.
type Change struct {
	Key       string
	Update    string
	Condition string
	Values    attr.Item
}

// ConditionFailedError reports that a record did not satisfy the condition of a change.
type ConditionFailedError struct {
	Old Record
	OK  bool // whether a record exists
}

// Error implements error.
func (e *ConditionFailedError) Error() string { return "the lock is not in the expected state" }

// Unwrap returns the fault.
func (e *ConditionFailedError) Unwrap() error {
	return fault.New(fault.Conflict, "lock_changed", "%s", e.Error())
}

// ConditionFailed returns a *ConditionFailedError with the item that a lock has, nil for none, or that item's damage.
func ConditionFailed(it attr.Item) error {
	r, ok, err := RecordOf(it)
	if err != nil {
		return err
	}
	return &ConditionFailedError{Old: r, OK: ok}
}
