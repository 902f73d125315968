package bind

import (
	"fmt"
	"slices"
	"strings"
)

// Detail is one thing that is wrong with a request: a member, a parameter, or "body" or "query" as a whole.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is a request with one or more things wrong.
type Error struct {
	Details []Detail
}

// Invalid is an Error about one field.
func Invalid(field, format string, args ...any) error {
	return &Error{[]Detail{{field, fmt.Sprintf(format, args...)}}}
}

// Error implements error.
func (e *Error) Error() string {
	parts := make([]string, 0, len(e.Details))
	for _, d := range e.Details {
		parts = append(parts, d.Field+": "+d.Message)
	}
	return strings.Join(parts, "; ")
}

// problems collects what is wrong.
type problems struct {
	details []Detail
}

// Bad notes what is wrong with a field. Of one field the first stays.
func (p *problems) Bad(field, format string, args ...any) {
	if slices.ContainsFunc(p.details, func(d Detail) bool { return d.Field == field }) {
		return
	}
	p.details = append(p.details, Detail{field, fmt.Sprintf(format, args...)})
}

// Err returns everything that was wrong as an *Error; nil: nothing.
func (p *problems) Err() error {
	if len(p.details) > 0 {
		return &Error{p.details}
	}
	return nil
}
