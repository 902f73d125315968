package store

import (
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// ConditionFailedError says that the item did not satisfy the condition of a write. Nothing was changed by that
// write; the transaction may go on. fault.KindOf gives Conflict.
type ConditionFailedError struct {
	Table string
	Old   attr.Item // the item as it was, expired or not; nil if there was none
}

// Error has DynamoDB's words.
func (e *ConditionFailedError) Error() string { return "The conditional request failed" }

// Unwrap returns the fault that the edges map.
func (e *ConditionFailedError) Unwrap() error {
	return fault.New(fault.Conflict, "condition_failed", "%s", e.Error())
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

func errNoTable(name string) error {
	return fault.New(fault.NotFound, "table_not_found", "Requested resource not found: Table: %s not found", name)
}

func errTxOver() error {
	return fault.New(fault.Internal, "tx_over", "a store transaction was used after its function returned")
}

func errTxLent() error {
	return fault.New(fault.Internal, "tx_lent", "a store transaction was used by a function that it had lent an item to")
}

func errReadOnly() error {
	return fault.New(fault.Internal, "tx_read_only", "a write in View")
}

func errClosed() error {
	return fault.New(fault.Unavailable, "store_closed", "the store is closed")
}

// damaged is for what cannot be read back as it was written.
func damaged(err error, format string, args ...any) error {
	return fault.Wrap(err, fault.Damaged, "store_damaged", "the store is damaged: %s", fmt.Sprintf(format, args...))
}
