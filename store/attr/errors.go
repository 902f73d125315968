package attr

import "github.com/touchline/touchline/internal/fault"

// invalid returns the error of a value that DynamoDB refuses with a ValidationException.
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// NumberError is the cause of errors about numbers that DynamoDB does not accept. The error around it has the text.
type NumberError struct{}

// Error returns the empty string.
func (NumberError) Error() string { return "" }

func badNumber(format string, args ...any) error {
	return fault.Wrap(NumberError{}, fault.Invalid, "validation", format, args...)
}

// damagedBytes returns the error of bytes that neither Encode nor AppendKey can have written.
func damagedBytes(what string) error {
	return fault.New(fault.Damaged, "encoding", "%s cannot be decoded", what)
}
