package partiql

import "strings"

// selecting parses a SELECT after its first word.
func (p *parser) selecting() *Statement {
	s := &Statement{Kind: Select}
	for _, word := range []string{"distinct", "value", "pivot"} {
		switch {
		case !p.takeWord(word):
		case word == "distinct":
			s.recordFlaw(invalid("Unsupported token in expression: DISTINCT"))
		default:
			s.recordFlaw(invalid("Select projection doesn't support value or pivot keywords"))
		}
	}
	p.takeWord("all")
	p.columns(s)
	p.word("from")
	p.source(s)
	p.filter(s)
	if p.takeWord("order") {
		p.ordering(s)
	}
	p.parseUnsupported(s)
	return s
}

// columns parses the projection of a SELECT.
func (p *parser) columns(s *Statement) {
	if p.takeSign("*") {
		if p.takeSign(",") {
			panic(malformedText("Other attributes should not be present in the projection when '*' is used."))
		}
		return
	}
	p.list(func() {
		s.columns = append(s.columns, p.expression())
		p.noAlias(s)
	})
}

// alias consumes an alias, with or without AS.
func (p *parser) alias() bool {
	as := p.takeWord("as")
	if t := p.peek(); t.kind == tokWord || t.kind == tokQuoted {
		p.next()
		return true
	}
	return as
}

func (p *parser) noAlias(s *Statement) {
	if p.alias() {
		s.recordFlaw(invalid("Aliasing is not supported"))
	}
}

// source parses the table and index.
func (p *parser) source(s *Statement) {
	if p.peek().is(tokSign, "(") {
		panic(invalid("Unexpected from source"))
	}
	s.from = p.primary()
	if p.alias() || p.takeWord("at") && p.alias() || p.takeWord("by") && p.alias() {
		s.recordFlaw(invalid("Aliasing is not supported"))
	}
	next := p.peek()
	for _, word := range []string{"join", "inner", "left", "right", "full", "cross"} {
		if next.is(tokKeyword, word) || next.is(tokSign, ",") {
			panic(invalid("Only select from a single table or index is supported."))
		}
	}
}

func (p *parser) filter(s *Statement) {
	if p.takeWord("where") {
		s.where = p.expression()
	}
}

func (p *parser) ordering(s *Statement) {
	p.word("by")
	p.list(func() {
		o := ordering{by: p.expression(), descending: p.takeWord("desc")}
		if !o.descending {
			p.takeWord("asc")
		}
		s.order = append(s.order, o)
	})
}

// parseUnsupported parses clauses that DynamoDB does not support.
func (p *parser) parseUnsupported(s *Statement) {
	if p.takeWord("group") {
		p.word("by")
		p.list(func() { p.expression() })
		s.recordFlaw(invalid("Unsupported clause: GROUP BY"))
	}
	for _, clause := range []string{"having", "limit"} {
		if p.takeWord(clause) {
			s.recordFlaw(invalidAt(p.expression().at, "Unsupported clause: %s", strings.ToUpper(clause)))
		}
	}
}

// inserting parses an INSERT after its first word.
func (p *parser) inserting() *Statement {
	s := &Statement{Kind: Insert}
	p.word("into")
	s.from = p.target("identifier")
	many := p.peek().is(tokSign, "<<") || p.takeWord("values")
	if !many {
		p.word("value")
	}
	s.item = p.expression()
	for many && p.takeSign(",") {
		p.expression()
	}
	if many {
		s.recordFlaw(invalid("Unsupported operation: InsertOp"))
	}
	if s.item.kind != nodeMap {
		s.recordFlaw(invalidAt(s.item.at, "Unsupported format in item expression. Please use struct format {...} to express item values "+
			"for insert statement."))
	}
	if p.returning(s) {
		s.recordFlaw(invalid("RETURNING is not supported in INSERT"))
	}
	return s
}

// target parses the table of a write, or a path to assign to.
func (p *parser) target(expected string) *node {
	if t := p.peek(); t.kind != tokWord && t.kind != tokQuoted {
		panic(malformedText("Expected " + expected))
	}
	return p.path(p.next())
}

// changing parses the table of an UPDATE or DELETE.
func (p *parser) changing(kind Kind) *Statement {
	s := &Statement{Kind: kind, from: p.target("identifier")}
	p.noAlias(s)
	return s
}

// updating parses an UPDATE after its first word.
func (p *parser) updating() *Statement {
	s := p.changing(Update)
	p.changes(s)
	p.filter(s)
	p.returning(s)
	return s
}

// updatingFrom parses the other form of an UPDATE after its FROM: the WHERE precedes the changes.
func (p *parser) updatingFrom() *Statement {
	s := p.changing(Update)
	p.filter(s)
	p.changes(s)
	p.returning(s)
	return s
}

// changes parses the SET and REMOVE clauses of an UPDATE.
func (p *parser) changes(s *Statement) {
	for {
		switch {
		case p.takeWord("set"):
			p.list(func() { p.assignment(s) })
		case p.takeWord("remove"):
			s.removes = append(s.removes, p.target("identifier for simple path"))
		case len(s.sets)+len(s.removes) == 0:
			panic(malformedText("Expected data manipulation"))
		default:
			return
		}
	}
}

// assignment parses one assignment of a SET.
func (p *parser) assignment(s *Statement) {
	path := p.target("identifier for simple path")
	if !p.takeSign("=") {
		panic(malformedText("Expected '=' for assignment"))
	}
	s.sets = append(s.sets, assignment{path, p.expression()})
}

// deleting parses a DELETE after its first word.
func (p *parser) deleting() *Statement {
	p.word("from")
	s := p.changing(Delete)
	p.filter(s)
	p.returning(s)
	if s.Returning != ReturnNone && s.Returning != ReturnAllOld {
		s.recordFlaw(invalid("Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.", s.Returning))
	}
	return s
}

// String returns the clause without its star.
func (r Returning) String() string {
	return strings.NewReplacer("UPDATED", "MODIFIED", "_", " ").Replace(string(r))
}

// returning parses a RETURNING clause, if there is one.
func (p *parser) returning(s *Statement) bool {
	if !p.takeWord("returning") {
		return false
	}
	p.list(func() {
		before := s.Returning
		if s.Returning = p.parseReturning(); before != ReturnNone {
			s.recordFlaw(invalid("Invalid syntax with multiple returning elements in RETURNING clause"))
		}
		if !p.takeSign("*") {
			p.expression()
			s.recordFlaw(invalid("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"))
		}
	})
	return true
}

func (p *parser) parseReturning() Returning {
	all := p.takeWord("all")
	if !all && !p.takeWord("modified") {
		panic(malformedText("Expected ALL or MODIFIED"))
	}
	old := p.takeWord("old")
	if !old && !p.takeWord("new") {
		panic(malformedText("Expected OLD or NEW"))
	}
	switch {
	case all && old:
		return ReturnAllOld
	case all:
		return ReturnAllNew
	case old:
		return ReturnUpdatedOld
	}
	return ReturnUpdatedNew
}
