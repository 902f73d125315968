package partiql

import (
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// Kind is the kind of a statement.
type Kind uint8

// The kinds of statements.
const (
	Select Kind = iota
	Insert
	Update
	Delete
	Exists // EXISTS(SELECT ...): the condition check of a transaction
)

// Returning is what a write returns of its item.
type Returning string

// The RETURNING clauses, named like the equivalent ReturnValues.
const (
	ReturnNone       Returning = ""
	ReturnAllOld     Returning = "ALL_OLD"
	ReturnAllNew     Returning = "ALL_NEW"
	ReturnUpdatedOld Returning = "UPDATED_OLD" // MODIFIED OLD
	ReturnUpdatedNew Returning = "UPDATED_NEW" // MODIFIED NEW
)

// Statement is a parsed statement. It is immutable, and may be compiled many times concurrently.
type Statement struct {
	Kind      Kind
	Table     string
	Index     string // empty: the table itself
	Returning Returning

	params  int     // number of ?
	columns []*node // nil: all
	from    *node
	where   *node // nil: no WHERE
	order   []ordering
	item    *node        // for an INSERT
	sets    []assignment // for an UPDATE
	removes []*node
	flaw    *refusal // first of the errors that are reported only after the whole text is parsed
}

// ordering is an element of ORDER BY.
type ordering struct {
	by         *node
	descending bool
}

// assignment is an element of SET.
type assignment struct {
	path, value *node
}

// recordFlaw records an error, unless there is one already.
func (s *Statement) recordFlaw(flaw refusal) {
	if s.flaw == nil {
		s.flaw = &flaw
	}
}

// check refuses what is invalid for any table, and sets the table.
func (s *Statement) check() {
	if s.flaw != nil {
		panic(*s.flaw)
	}
	s.source()
	for _, c := range s.columns {
		if c.kind != nodePath {
			panic(invalidAt(c.at, "Unexpected path component"))
		}
	}
	seen := map[string]bool{}
	for _, c := range s.columns {
		name := label(c.steps)
		if seen[name] {
			panic(invalid("Duplicate identifiers in select clause: %s", name))
		}
		seen[name] = true
	}
}

// source determines the table and index from FROM.
func (s *Statement) source() {
	if s.from.kind != nodePath {
		panic(invalid("Unexpected from source"))
	}
	for _, c := range s.from.steps {
		if c.index != noIndex {
			panic(invalid("Invalid list expression in source."))
		}
	}
	if len(s.from.steps) > 2 {
		panic(invalid("A path may contain at most 2 components in the FROM clause"))
	}
	for _, c := range s.from.steps {
		if len(c.name) < 3 || len(c.name) > 255 || strings.Trim(c.name, nameChars) != "" {
			panic(invalid("Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'."))
		}
	}
	s.Table = s.from.steps[0].name
	if len(s.from.steps) == 1 {
		return
	}
	s.Index = s.from.steps[1].name
	switch s.Kind {
	case Insert:
		panic(invalid("FROM clause may only contain a single table name in data manipulation statements"))
	case Update, Delete:
		panic(invalid("This operation is not supported on an index"))
	}
}

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// match refuses a wrong number of parameters, and a WHERE that is not true or false.
func (s *Statement) match(params []attr.Value) {
	if len(params) != s.params {
		panic(invalid("Number of parameters in request and statement don't match."))
	}
	if s.where != nil {
		s.where.mustHold()
	}
}
