package expr

// actionKind is the clause that an action is in.
type actionKind uint8

const (
	actionSet actionKind = iota
	actionRemove
	actionAdd
	actionDelete
)

// String returns the keyword of the clause.
func (k actionKind) String() string {
	return [...]string{actionSet: "SET", actionRemove: "REMOVE", actionAdd: "ADD", actionDelete: "DELETE"}[k]
}

// action changes the value at one path.
type action struct {
	kind  actionKind
	path  path
	value node // SET: the right side; ADD, DELETE: the operand, a placeholder
}

// update parses a whole update expression: clauses in any order, each at most once.
func (p *parser) update() error {
	var seen [actionDelete + 1]bool
	for {
		kind, ok := clause(p.peek())
		if !ok {
			return p.syntaxError()
		}
		p.next()
		if err := p.actions(kind); err != nil {
			return err
		}
		if seen[kind] {
			p.complain(rankSection, p.pos, "The \"%s\" section can only be used once in an update expression;", kind)
		}
		seen[kind] = true
		if p.peek() == tokEnd {
			return nil
		}
	}
}

// clause returns the clause that a keyword begins. The keywords are in the order of the clauses.
func clause(kind tokenKind) (actionKind, bool) {
	return actionKind(kind - tokSet), kind >= tokSet && kind <= tokDelete
}

// actions parses the actions of one clause.
func (p *parser) actions(kind actionKind) error {
	for {
		at, err := p.path()
		if err != nil {
			return err
		}
		a := action{kind: kind, path: at}
		switch kind {
		case actionSet:
			a.value, err = p.rightSide()
		case actionAdd, actionDelete:
			a.value, err = p.valueOperand()
		}
		if err != nil {
			return err
		}
		p.out.actions = append(p.out.actions, a)
		if !p.accept(tokComma) {
			return nil
		}
	}
}

func (p *parser) rightSide() (node, error) {
	if _, err := p.expect(tokEqual); err != nil {
		return node{}, err
	}
	return p.sum()
}

func (p *parser) valueOperand() (node, error) {
	if p.peek() != tokValue {
		return node{}, p.syntaxError()
	}
	return p.operand()
}

// sum parses an operand, or one sum or difference of two. DynamoDB does not allow chains: "SET a = b + :x + :y" is a syntax error.
func (p *parser) sum() (node, error) {
	read := p.operand
	if p.peek() == tokOpen {
		read = func() (node, error) { return p.parens(p.sum) }
	}
	left, err := read()
	if err != nil || left.op == opPlus || left.op == opMinus {
		return left, err
	}
	o := opPlus
	switch p.peek() {
	case tokPlus:
	case tokMinus:
		o = opMinus
	default:
		return left, nil
	}
	p.checkUsable(left)
	p.next()
	p.operators++
	right, err := p.usable(p.operand)
	return node{op: o, args: []node{left, right}}, err
}
