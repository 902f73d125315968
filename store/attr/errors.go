package attr

import "github.com/touchline/touchline/internal/fault"

// invalid is a value that DynamoDB refuses with a ValidationException.
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// damaged is an encoding that Encode or AppendKey never wrote.
func damaged(what string) error {
	return fault.New(fault.Damaged, "encoding", "%s cannot be decoded", what)
}
