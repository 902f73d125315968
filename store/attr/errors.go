package attr

import "github.com/touchline/touchline/internal/fault"

// invalid is a value that DynamoDB refuses with a ValidationException.
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// NumberError is the cause of errors about numbers that DynamoDB does not take. The text is the error's.
type NumberError struct{}

// Error adds nothing.
func (NumberError) Error() string { return "" }

func badNumber(format string, args ...any) error {
	return fault.Wrap(NumberError{}, fault.Invalid, "validation", format, args...)
}

// damaged is an encoding that Encode or AppendKey never wrote.
func damaged(what string) error {
	return fault.New(fault.Damaged, "encoding", "%s cannot be decoded", what)
}
