package refusal

import (
	"fmt"
	"strconv"

	"github.com/touchline/touchline/internal/fault"
)

// Invalid refuses a request with DynamoDB's text.
func Invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// Closed refuses calls after Close.
func Closed() error {
	return fault.New(fault.Unavailable, "store_closed", "the store is closed")
}

// DamagedData reports data that cannot be read back as it was written.
func DamagedData(err error, format string, args ...any) error {
	return fault.Wrap(err, fault.Damaged, "store_damaged", "the store is damaged: %s", fmt.Sprintf(format, args...))
}

// Count refuses an empty list and one that is too long, with the text of DynamoDB's parameter validation.
func Count(n, limit int, member string) error {
	switch {
	case n == 0:
		return Constraint(member, "Member must have length greater than or equal to 1")
	case n > limit:
		return Constraint(member, "Member must have length less than or equal to "+strconv.Itoa(limit))
	}
	return nil
}

// Constraint refuses a parameter of a request, with the text of DynamoDB's parameter validation.
func Constraint(member, constraint string) error {
	return Invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: %s", member, constraint)
}
