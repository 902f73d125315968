package partiql

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// expression reads an expression; OR binds loosest.
func (p *parser) expression() (*node, error) { return p.chain("or", nodeOr, p.conjunction) }

func (p *parser) conjunction() (*node, error) { return p.chain("and", nodeAnd, p.negation) }

// chain reads operands with one word between them. What is nested in the same operator is one list with it.
func (p *parser) chain(word string, kind nodeKind, operand func() (*node, error)) (*node, error) {
	n, err := operand()
	if err != nil || !p.peek().is(tokKeyword, word) {
		return n, err
	}
	all := &node{kind: kind, at: p.peek().at, name: word}
	all.join(n)
	for p.takeWord(word) {
		if n, err = operand(); err != nil {
			return nil, err
		}
		all.join(n)
	}
	return all, nil
}

// join adds an operand to an AND or OR.
func (n *node) join(arg *node) {
	if arg.kind == n.kind {
		n.args = append(n.args, arg.args...)
		return
	}
	n.args = append(n.args, arg)
}

func (p *parser) negation() (*node, error) {
	var at place
	count := 0
	for p.peek().is(tokKeyword, "not") {
		at = p.next().at
		count++
	}
	n, err := p.comparison()
	if err != nil || count == 0 {
		return n, err
	}
	if count%2 == 0 {
		n = negated(at, n)
	}
	return negated(at, n), nil
}

func negated(at place, n *node) *node {
	return &node{kind: nodeNot, at: at, name: "not", args: []*node{n}}
}

// comparison reads what compares two values, from the left. Its loop has no recursion, and what it nests is refused later:
// nothing but a comparison with TRUE or FALSE has a condition as an operand.
func (p *parser) comparison() (*node, error) {
	n, err := p.concatenation()
	for depth := 0; err == nil && depth < maxDepth; depth++ {
		t := p.peek()
		not := t.is(tokKeyword, "not")
		if not {
			p.next()
			t = p.peek()
		}
		switch {
		case t.is(tokKeyword, "in"):
			n, err = p.membership(n)
		case t.is(tokKeyword, "between"):
			n, err = p.between(n)
		case t.is(tokKeyword, "like"):
			n, err = p.binary(nodeOp, n, p.concatenation)
		case not:
			return nil, malformed("Unexpected term")
		case t.is(tokKeyword, "is"):
			n, err = p.typeTest(n)
		case t.kind == tokSign && comparator(t.text):
			n, err = p.binary(nodeCompare, n, p.concatenation)
		default:
			return n, nil
		}
		if not && err == nil {
			n = negated(t.at, n)
		}
	}
	if err == nil {
		err = malformed("The nesting is too deep")
	}
	return nil, err
}

func comparator(sign string) bool {
	switch sign {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// binary reads an operator and its right operand.
func (p *parser) binary(kind nodeKind, left *node, operand func() (*node, error)) (*node, error) {
	op := p.next()
	right, err := operand()
	if err != nil {
		return nil, err
	}
	name := op.text
	if name == "!=" {
		name = "<>"
	}
	return &node{kind: kind, at: op.at, name: name, args: []*node{left, right}}, nil
}

func (p *parser) membership(left *node) (*node, error) {
	op := p.next()
	var right *node
	var err error
	if open := p.peek(); p.takeSign("(") { // (a) is a list here
		right = &node{kind: nodeList, at: open.at}
		right.args, err = p.elements(")", false)
	} else {
		right, err = p.concatenation()
	}
	return &node{kind: nodeIn, at: op.at, name: "in", args: []*node{left, right}}, err
}

func (p *parser) between(n *node) (*node, error) {
	op := p.next()
	low, err := p.concatenation()
	if err != nil {
		return nil, err
	}
	if err := p.word("and"); err != nil {
		return nil, err
	}
	high, err := p.concatenation()
	return &node{kind: nodeBetween, at: op.at, name: "between", args: []*node{n, low, high}}, err
}

func (p *parser) typeTest(left *node) (*node, error) {
	op := p.next()
	not := p.takeWord("not")
	name := ""
	if t := p.next(); t.kind == tokKeyword || t.kind == tokWord {
		name = typeName(strings.ToLower(t.text), p.takeWord)
	}
	if name == "" {
		return nil, malformed("Expected type name")
	}
	n := &node{kind: nodeIs, at: op.at, name: name, args: []*node{left}}
	if not {
		n = negated(op.at, n)
	}
	return n, nil
}

func (p *parser) concatenation() (*node, error) { return p.operators(p.sum, "||") }
func (p *parser) sum() (*node, error)           { return p.operators(p.product, "+", "-") }
func (p *parser) product() (*node, error)       { return p.operators(p.unary, "*", "/", "%") }

// operators reads operands with any of the signs between them, from the left. Their number bounds the depth of the tree.
func (p *parser) operators(operand func() (*node, error), signs ...string) (*node, error) {
	n, err := operand()
	for depth := 0; err == nil; depth++ {
		t := p.peek()
		if t.kind != tokSign || !slices.Contains(signs, t.text) {
			return n, nil
		}
		if depth > maxDepth {
			return nil, malformed("The nesting is too deep")
		}
		n, err = p.binary(nodeOp, n, operand)
	}
	return nil, err
}

func (p *parser) unary() (*node, error) {
	t := p.peek()
	if t.kind != tokSign || t.text != "-" && t.text != "+" {
		return p.primary()
	}
	p.next()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.unary()
	if err != nil {
		return nil, err
	}
	if n.kind != nodeValue || n.value.Kind() != attr.KindN {
		return &node{kind: nodeOp, at: t.at, name: t.text, args: []*node{n}}, nil
	}
	if t.text == "+" {
		return n, nil
	}
	if strings.Trim(n.name, "0.") == "" && strings.Contains(n.name, ".") {
		return nil, invalidAt(n.at, "Negative zero decimal is not supported under key root")
	}
	zero := attr.Int(0)
	n.value, err = attr.Sub(zero, n.value)
	return n, err
}

func (p *parser) primary() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	switch t := p.next(); t.kind {
	case tokWord, tokQuoted:
		if t.kind == tokWord && p.peek().is(tokSign, "(") {
			return p.call(t)
		}
		return p.path(t)
	case tokString:
		return &node{kind: nodeValue, at: t.at, value: attr.S(t.text)}, nil
	case tokNumber:
		return number(t)
	case tokIon:
		return &node{kind: nodeIon, at: t.at, name: ionType(t.text)}, nil
	case tokParam:
		p.params++
		return &node{kind: nodeParam, at: t.at, param: p.params - 1}, nil
	case tokKeyword:
		return p.keyword(t)
	case tokSign:
		return p.bracketed(t)
	}
	return nil, malformed("Unexpected term")
}

func (p *parser) keyword(t token) (*node, error) {
	switch t.text {
	case "true", "false":
		return &node{kind: nodeValue, at: t.at, value: attr.Bool(t.text == "true")}, nil
	case "null":
		return &node{kind: nodeValue, at: t.at, value: attr.Null()}, nil
	case "missing":
		return &node{kind: nodeMissing, at: t.at}, nil
	}
	open := p.peek()
	switch {
	case !open.is(tokSign, "("):
		return nil, malformed("Unexpected keyword")
	case t.text == "cast":
		return nil, invalidAt(open.at, "Unsupported token in expression: cast")
	}
	return p.call(t)
}

// call reads the arguments of a function.
func (p *parser) call(name token) (*node, error) {
	p.next() // the parenthesis
	n := &node{kind: nodeCall, at: name.at, name: strings.ToLower(name.text)}
	if p.takeSign("*") { // COUNT(*)
		return n, p.sign(")")
	}
	var err error
	n.args, err = p.elements(")", true)
	return n, err
}

// elements reads expressions with commas between them, and the closing sign. No expression is allowed only if empty is.
func (p *parser) elements(end string, empty bool) (all []*node, err error) {
	if empty && p.takeSign(end) {
		return nil, nil
	}
	for {
		if t := p.peek(); t.is(tokKeyword, "select") {
			return nil, invalidAt(t.at, "Unsupported token in expression: SELECT")
		}
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if !p.takeSign(",") {
			return all, p.sign(end)
		}
	}
}

// bracketed reads what stands in brackets of any kind.
func (p *parser) bracketed(open token) (n *node, err error) {
	n = &node{at: open.at}
	switch open.text {
	case "(":
		n.kind = nodeList
		if n.args, err = p.elements(")", false); err == nil && len(n.args) == 1 {
			n = n.args[0]
		}
		return n, err
	case "[":
		n.kind = nodeList
		n.args, err = p.elements("]", true)
		return n, err
	case "<<":
		n.kind = nodeBag
		n.args, err = p.elements(">>", true)
		return n, err
	case "{":
		n.kind = nodeMap
		return n, p.members(n)
	}
	return nil, malformed("Unexpected term")
}

// members reads what stands in a map.
func (p *parser) members(n *node) error {
	if p.takeSign("}") {
		return nil
	}
	for {
		key, err := p.expression()
		if err != nil {
			return err
		}
		if err := p.sign(":"); err != nil {
			return err
		}
		value, err := p.expression()
		if err != nil {
			return err
		}
		n.keys, n.args = append(n.keys, key), append(n.args, value)
		if !p.takeSign(",") {
			return p.sign("}")
		}
	}
}
