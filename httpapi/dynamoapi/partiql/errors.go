package partiql

import (
	"fmt"

	"github.com/touchline/touchline/internal/fault"
)

// place is where a token stands in the text. All three count characters, line and column from 1.
type place struct {
	line, column, length int
}

func (p place) String() string { return fmt.Sprintf("%d:%d:%d", p.line, p.column, p.length) }

// refusal is what the parser and the compiler panic with, as those of text/template do: the first fault ends the recursive
// descent wherever it is found, and caught makes an error of it. No panic leaves the package, and no other is caught.
type refusal struct{ err error }

// caught is deferred by all that is exported and may refuse a statement.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = r.err
	default:
		panic(r)
	}
}

// must refuses a statement for the error of another package.
func must[T any](v T, err error) T {
	if err != nil {
		panic(refusal{err})
	}
	return v
}

func invalid(format string, args ...any) refusal {
	return refusal{fault.New(fault.Invalid, "validation", format, args...)}
}

// invalidAt is invalid with the place that the service names.
func invalidAt(at place, format string, args ...any) refusal {
	return invalid("%s at %s", fmt.Sprintf(format, args...), at)
}

// malformed refuses a text that is not of the language.
func malformed(why string) refusal {
	return invalid("Statement wasn't well formed, can't be processed: %s", why)
}
