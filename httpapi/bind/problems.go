package bind

import (
	"fmt"
	"slices"
	"strings"
)

// Detail is one error in a request: a member, a parameter, or "body" or "query" as a whole.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is the error of an invalid request.
type Error struct {
	Details []Detail
}

// Invalid returns an Error about one field.
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

// problems collects errors.
type problems struct {
	details []Detail
}

// Bad records an error of a field. Only the first one per field is kept.
func (p *problems) Bad(field, format string, args ...any) {
	if slices.ContainsFunc(p.details, func(d Detail) bool { return d.Field == field }) {
		return
	}
	p.details = append(p.details, Detail{field, fmt.Sprintf(format, args...)})
}

// Err returns all errors as an *Error, or nil.
func (p *problems) Err() error {
	if len(p.details) > 0 {
		return &Error{p.details}
	}
	return nil
}
