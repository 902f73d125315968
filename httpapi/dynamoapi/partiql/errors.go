package partiql

import (
	"fmt"

	"github.com/touchline/touchline/internal/fault"
)

// place is the position of a token in the text. All values count characters; line and column start at 1.
type place struct {
	line, column, length int
}

func (p place) String() string { return fmt.Sprintf("%d:%d:%d", p.line, p.column, p.length) }

// refusal is the panic value of the parser and compiler, as in text/template: the first error ends the recursive descent wherever it
// occurs, and caught converts it to an error. No refusal leaves the package, and no other panic is caught.
type refusal struct{ err error }

// caught must be deferred by every exported function that may refuse a statement.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = r.err
	default:
		panic(r)
	}
}

// must refuses a statement because of another package's error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(refusal{err})
	}
	return v
}

func invalid(format string, args ...any) refusal {
	return refusal{fault.New(fault.Invalid, "validation", format, args...)}
}

// invalidAt is invalid with the position that the service names.
func invalidAt(at place, format string, args ...any) refusal {
	return invalid("%s at %s", fmt.Sprintf(format, args...), at)
}

// malformedText refuses a text that violates the grammar.
func malformedText(why string) refusal {
	return invalid("Statement wasn't well formed, can't be processed: %s", why)
}
