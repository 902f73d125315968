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

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// invalidAt is invalid with the place that the service names.
func invalidAt(at place, format string, args ...any) error {
	return invalid("%s at %s", fmt.Sprintf(format, args...), at)
}

// malformed refuses a text that is not of the language.
func malformed(why string) error {
	return invalid("Statement wasn't well formed, can't be processed: %s", why)
}
