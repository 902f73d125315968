package expr

// The precedences of conditions, loosest first: "NOT a = :x AND b = :y OR c = :z" means "((NOT (a = :x)) AND (b = :y)) OR (c = :z)".
// Comparisons do not chain: "a = b = c" is a syntax error.
const (
	precedenceNone = iota
	precedenceOr
	precedenceAnd
	precedenceNot
	precedenceCompare
)

// infix returns the operator and precedence of a token between two operands, or precedenceNone if it is not an operator.
func infix(kind tokenKind) (op, int) {
	switch kind {
	case tokOr:
		return opOr, precedenceOr
	case tokAnd:
		return opAnd, precedenceAnd
	case tokEqual:
		return opEqual, precedenceCompare
	case tokNotEqual:
		return opNotEqual, precedenceCompare
	case tokLess:
		return opLess, precedenceCompare
	case tokLessEqual:
		return opLessEqual, precedenceCompare
	case tokGreater:
		return opGreater, precedenceCompare
	case tokGreaterEqual:
		return opGreaterEqual, precedenceCompare
	case tokBetween:
		return opBetween, precedenceCompare
	case tokIn:
		return opIn, precedenceCompare
	}
	return 0, precedenceNone
}

// condition parses a whole condition.
func (p *parser) condition() error {
	n, err := p.truth(precedenceOr)
	if err != nil {
		return err
	}
	p.out.root = n
	_, err = p.expect(tokEnd)
	return err
}

// truth parses an expression with a truth value.
func (p *parser) truth(least int) (node, error) {
	n, err := p.expression(least)
	if err != nil {
		return node{}, err
	}
	return n, p.wantTruth(n)
}

// wantTruth refuses an operand where a truth value is required. Like DynamoDB, it reports the token after the operand.
func (p *parser) wantTruth(n node) error {
	switch n.op {
	case opPath, opValue:
		return p.syntaxError()
	case opSize:
		p.refuseMisuse(n)
	}
	return nil
}

// expression parses everything that binds at least as tightly as the given precedence. The result may be an operand: only the token after
// a closing parenthesis distinguishes "(a) = :x" from "(a = :x)".
func (p *parser) expression(least int) (node, error) {
	left, err := p.prefix()
	for err == nil {
		o, precedence := infix(p.peek())
		if precedence == precedenceNone || precedence < least {
			break
		}
		if precedence == precedenceCompare {
			left, err = p.comparison(left, o)
		} else {
			left, err = p.connective(left, o, precedence)
		}
	}
	return left, err
}

func (p *parser) prefix() (node, error) {
	switch p.peek() {
	case tokNot:
		return p.not()
	case tokOpen:
		return p.parens(func() (node, error) { return p.expression(precedenceOr) })
	}
	return p.operand()
}

func (p *parser) not() (node, error) {
	p.next()
	p.operators++
	if err := p.enterLevel(); err != nil {
		return node{}, err
	}
	defer p.leaveLevel()
	n, err := p.truth(precedenceNot)
	return node{op: opNot, args: []node{n}}, err
}

// connective parses the rest of an AND or OR.
func (p *parser) connective(left node, o op, precedence int) (node, error) {
	if err := p.wantTruth(left); err != nil {
		return node{}, err
	}
	p.next()
	p.operators++
	right, err := p.truth(precedence + 1)
	return node{op: o, args: []node{left, right}}, err
}

// comparison parses the rest of a comparison.
func (p *parser) comparison(left node, o op) (node, error) {
	if left.op.isTruth() {
		return node{}, p.syntaxError()
	}
	p.checkUsable(left)
	p.next()
	p.operators++
	switch o {
	case opBetween:
		return p.parseBetween(left)
	case opIn:
		return p.parseIn(left)
	}
	right, err := p.usable(p.operand)
	return node{op: o, args: []node{left, right}}, err
}

func (p *parser) parseBetween(left node) (node, error) {
	low, err := p.usable(p.operand)
	if err != nil {
		return node{}, err
	}
	if _, err := p.expect(tokAnd); err != nil {
		return node{}, err
	}
	high, err := p.usable(p.operand)
	return node{op: opBetween, args: []node{left, low, high}}, err
}

func (p *parser) parseIn(left node) (node, error) {
	if _, err := p.expect(tokOpen); err != nil {
		return node{}, err
	}
	list, err := p.operands()
	if err != nil {
		return node{}, err
	}
	if len(list) > maxOperands {
		p.complain(rankLimit, p.pos, "The IN operator is provided with too many operands; number of operands: %d", len(list))
	}
	_, err = p.expect(tokClose)
	return node{op: opIn, args: append([]node{left}, list...)}, err
}
