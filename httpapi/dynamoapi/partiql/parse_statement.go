package partiql

import "strings"

// selecting reads a SELECT from behind its word.
func (p *parser) selecting() (*Statement, error) {
	s := &Statement{Kind: Select}
	for _, word := range []string{"distinct", "value", "pivot"} {
		if !p.takeWord(word) {
			continue
		}
		if word == "distinct" {
			s.note(invalid("Unsupported token in expression: DISTINCT"))
		} else {
			s.note(invalid("Select projection doesn't support value or pivot keywords"))
		}
	}
	p.takeWord("all")
	if err := p.columns(s); err != nil {
		return nil, err
	}
	if err := p.word("from"); err != nil {
		return nil, err
	}
	if err := p.source(s); err != nil {
		return nil, err
	}
	if err := p.filter(s); err != nil {
		return nil, err
	}
	if p.takeWord("order") {
		if err := p.ordering(s); err != nil {
			return nil, err
		}
	}
	return s, p.unsupported(s)
}

// columns reads what a SELECT shows.
func (p *parser) columns(s *Statement) error {
	if p.takeSign("*") {
		if p.takeSign(",") {
			return malformed("Other attributes should not be present in the projection when '*' is used.")
		}
		return nil
	}
	for more := true; more; more = p.takeSign(",") {
		n, err := p.expression()
		if err != nil {
			return err
		}
		s.columns = append(s.columns, n)
		if p.alias() {
			s.note(invalid("Aliasing is not supported"))
		}
	}
	return nil
}

// alias steps over another name, with AS or without.
func (p *parser) alias() bool {
	as := p.takeWord("as")
	if t := p.peek(); t.kind == tokWord || t.kind == tokQuoted {
		p.next()
		return true
	}
	return as
}

// source reads the table, with the index.
func (p *parser) source(s *Statement) (err error) {
	if p.peek().is(tokSign, "(") {
		return invalid("Unexpected from source")
	}
	if s.from, err = p.primary(); err != nil {
		return err
	}
	if p.alias() || p.takeWord("at") && p.alias() || p.takeWord("by") && p.alias() {
		s.note(invalid("Aliasing is not supported"))
	}
	for _, word := range []string{"join", "inner", "left", "right", "full", "cross"} {
		if p.peek().is(tokKeyword, word) {
			return invalid("Only select from a single table or index is supported.")
		}
	}
	if p.peek().is(tokSign, ",") {
		return invalid("Only select from a single table or index is supported.")
	}
	return nil
}

func (p *parser) filter(s *Statement) (err error) {
	if p.takeWord("where") {
		s.where, err = p.expression()
	}
	return err
}

func (p *parser) ordering(s *Statement) error {
	if err := p.word("by"); err != nil {
		return err
	}
	for more := true; more; more = p.takeSign(",") {
		n, err := p.expression()
		if err != nil {
			return err
		}
		o := ordering{by: n, descending: p.takeWord("desc")}
		if !o.descending {
			p.takeWord("asc")
		}
		s.order = append(s.order, o)
	}
	return nil
}

// unsupported reads the clauses that DynamoDB has no use for.
func (p *parser) unsupported(s *Statement) error {
	if p.takeWord("group") {
		if err := p.word("by"); err != nil {
			return err
		}
		for more := true; more; more = p.takeSign(",") {
			if _, err := p.expression(); err != nil {
				return err
			}
		}
		s.note(invalid("Unsupported clause: GROUP BY"))
	}
	for _, clause := range []string{"having", "limit"} {
		if !p.takeWord(clause) {
			continue
		}
		n, err := p.expression()
		if err != nil {
			return err
		}
		s.note(invalidAt(n.at, "Unsupported clause: %s", strings.ToUpper(clause)))
	}
	return nil
}

// inserting reads an INSERT from behind its word.
func (p *parser) inserting() (*Statement, error) {
	s := &Statement{Kind: Insert}
	if err := p.word("into"); err != nil {
		return nil, err
	}
	if err := p.target(s); err != nil {
		return nil, err
	}
	many := p.peek().is(tokSign, "<<") || p.takeWord("values")
	if !many {
		if err := p.word("value"); err != nil {
			return nil, err
		}
	}
	var err error
	if s.item, err = p.expression(); err != nil {
		return nil, err
	}
	for many && p.takeSign(",") {
		if _, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if many {
		s.note(invalid("Unsupported operation: InsertOp"))
	}
	if s.item.kind != nodeMap {
		s.note(invalidAt(s.item.at, "Unsupported format in item expression. Please use struct format {...} to express item values "+
			"for insert statement."))
	}
	returns, err := p.returning(s)
	if returns {
		s.note(invalid("RETURNING is not supported in INSERT"))
	}
	return s, err
}

// target reads the table of a write.
func (p *parser) target(s *Statement) error {
	if t := p.peek(); t.kind != tokWord && t.kind != tokQuoted {
		return malformed("Expected identifier")
	}
	var err error
	s.from, err = p.path(p.next())
	return err
}

// updating reads an UPDATE from behind its word.
func (p *parser) updating() (*Statement, error) {
	s, err := p.changing(Update)
	if err != nil {
		return nil, err
	}
	if err := p.changes(s); err != nil {
		return nil, err
	}
	return s, p.tail(s)
}

// changing begins a statement that changes what is in the table that it names.
func (p *parser) changing(kind Kind) (*Statement, error) {
	s := &Statement{Kind: kind}
	if err := p.target(s); err != nil {
		return nil, err
	}
	if p.alias() {
		s.note(invalid("Aliasing is not supported"))
	}
	return s, nil
}

// updatingFrom reads the other form of an UPDATE, from behind its FROM: the WHERE comes before what is changed.
func (p *parser) updatingFrom() (*Statement, error) {
	s, err := p.changing(Update)
	if err != nil {
		return nil, err
	}
	if err := p.filter(s); err != nil {
		return nil, err
	}
	if err := p.changes(s); err != nil {
		return nil, err
	}
	_, err = p.returning(s)
	return s, err
}

// changes reads the SETs and REMOVEs of an UPDATE.
func (p *parser) changes(s *Statement) error {
	for {
		var err error
		switch {
		case p.takeWord("set"):
			err = p.assignments(s)
		case p.takeWord("remove"):
			var n *node
			n, err = p.assigned()
			s.removes = append(s.removes, n)
		case len(s.sets)+len(s.removes) == 0:
			return malformed("Expected data manipulation")
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// assignments reads what stands behind SET.
func (p *parser) assignments(s *Statement) error {
	for more := true; more; more = p.takeSign(",") {
		path, err := p.assigned()
		if err != nil {
			return err
		}
		if !p.takeSign("=") {
			return malformed("Expected '=' for assignment")
		}
		value, err := p.expression()
		if err != nil {
			return err
		}
		s.sets = append(s.sets, assignment{path, value})
	}
	return nil
}

// assigned reads a path that is written to.
func (p *parser) assigned() (*node, error) {
	if t := p.peek(); t.kind != tokWord && t.kind != tokQuoted {
		return nil, malformed("Expected identifier for simple path")
	}
	return p.path(p.next())
}

// deleting reads a DELETE from behind its word.
func (p *parser) deleting() (*Statement, error) {
	if err := p.word("from"); err != nil {
		return nil, err
	}
	s, err := p.changing(Delete)
	if err != nil {
		return nil, err
	}
	return s, p.tail(s)
}

// tail reads WHERE and RETURNING.
func (p *parser) tail(s *Statement) error {
	if err := p.filter(s); err != nil {
		return err
	}
	_, err := p.returning(s)
	if err == nil && s.Kind == Delete && s.Returning != ReturnNone && s.Returning != ReturnAllOld {
		s.note(invalid("Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.", s.Returning))
	}
	return err
}

// String is the clause without its star.
func (r Returning) String() string {
	return strings.NewReplacer("UPDATED", "MODIFIED", "_", " ").Replace(string(r))
}

func (p *parser) returning(s *Statement) (bool, error) {
	if !p.takeWord("returning") {
		return false, nil
	}
	for i := 0; ; i++ {
		all := p.takeWord("all")
		if !all && !p.takeWord("modified") {
			return true, malformed("Expected ALL or MODIFIED")
		}
		old := p.takeWord("old")
		if !old && !p.takeWord("new") {
			return true, malformed("Expected OLD or NEW")
		}
		switch {
		case all && old:
			s.Returning = ReturnAllOld
		case all:
			s.Returning = ReturnAllNew
		case old:
			s.Returning = ReturnUpdatedOld
		default:
			s.Returning = ReturnUpdatedNew
		}
		if i > 0 {
			s.note(invalid("Invalid syntax with multiple returning elements in RETURNING clause"))
		}
		if !p.takeSign("*") {
			if _, err := p.expression(); err != nil {
				return true, err
			}
			s.note(invalid("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"))
		}
		if !p.takeSign(",") {
			return true, nil
		}
	}
}
