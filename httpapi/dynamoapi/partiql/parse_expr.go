package partiql

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// expression parses an expression. OR has the lowest precedence.
func (p *parser) expression() *node { return p.chain("or", nodeOr, p.conjunction) }

func (p *parser) conjunction() *node { return p.chain("and", nodeAnd, p.negation) }

// chain parses operands joined by one word. Nested nodes of the same kind are merged.
func (p *parser) chain(word string, kind nodeKind, operand func() *node) *node {
	n := operand()
	if !p.peek().is(tokKeyword, word) {
		return n
	}
	all := &node{kind: kind, at: p.peek().at, name: word}
	all.join(n)
	for p.takeWord(word) {
		all.join(operand())
	}
	return all
}

// join adds an operand to an AND or OR.
func (n *node) join(arg *node) {
	if arg.kind == n.kind {
		n.args = append(n.args, arg.args...)
		return
	}
	n.args = append(n.args, arg)
}

func (p *parser) negation() *node {
	var at place
	count := 0
	for p.peek().is(tokKeyword, "not") {
		at = p.next().at
		count++
	}
	n := p.comparison()
	if count == 0 {
		return n
	}
	if count%2 == 0 {
		n = negate(at, n)
	}
	return negate(at, n)
}

func negate(at place, n *node) *node {
	return &node{kind: nodeNot, at: at, name: "not", args: []*node{n}}
}

// comparison parses comparisons, left to right: a = b = TRUE is (a = b) = TRUE. It loops instead of recursing.
func (p *parser) comparison() *node {
	n := p.concatenation()
	for range maxDepth {
		t := p.peek()
		not := t.is(tokKeyword, "not")
		if not {
			p.next()
			t = p.peek()
		}
		switch {
		case t.is(tokKeyword, "in"):
			n = p.membership(n)
		case t.is(tokKeyword, "between"):
			n = p.parseBetween(n)
		case t.is(tokKeyword, "like"):
			n = p.binary(nodeOp, n, p.concatenation)
		case not:
			panic(malformedText("Unexpected term"))
		case t.is(tokKeyword, "is"):
			n = p.typeTest(n)
		case t.kind == tokSign && comparator(t.text):
			n = p.binary(nodeCompare, n, p.concatenation)
		default:
			return n
		}
		if not {
			n = negate(t.at, n)
		}
	}
	panic(malformedText("The nesting is too deep"))
}

func comparator(sign string) bool {
	switch sign {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// binary parses an operator and its right operand.
func (p *parser) binary(kind nodeKind, left *node, operand func() *node) *node {
	op := p.next()
	name := op.text
	if name == "!=" {
		name = "<>"
	}
	return &node{kind: kind, at: op.at, name: name, args: []*node{left, operand()}}
}

func (p *parser) membership(left *node) *node {
	op := p.next()
	var right *node
	if open := p.peek(); p.takeSign("(") { // (a) is a list here
		right = &node{kind: nodeList, at: open.at, args: p.elements(")", false)}
	} else {
		right = p.concatenation()
	}
	return &node{kind: nodeIn, at: op.at, name: "in", args: []*node{left, right}}
}

func (p *parser) parseBetween(n *node) *node {
	op := p.next()
	low := p.concatenation()
	p.word("and")
	return &node{kind: nodeBetween, at: op.at, name: "between", args: []*node{n, low, p.concatenation()}}
}

func (p *parser) typeTest(left *node) *node {
	op := p.next()
	not := p.takeWord("not")
	name := ""
	if t := p.next(); t.kind == tokKeyword || t.kind == tokWord {
		name = typeName(strings.ToLower(t.text), p.takeWord)
	}
	if name == "" {
		panic(malformedText("Expected type name"))
	}
	n := &node{kind: nodeIs, at: op.at, name: name, args: []*node{left}}
	if not {
		n = negate(op.at, n)
	}
	return n
}

func (p *parser) concatenation() *node { return p.operators(p.sum, "||") }
func (p *parser) sum() *node           { return p.operators(p.product, "+", "-") }
func (p *parser) product() *node       { return p.operators(p.unary, "*", "/", "%") }

// operators parses operands joined by any of the signs, left to right. The number of operands limits the depth of the tree.
func (p *parser) operators(operand func() *node, signs ...string) *node {
	n := operand()
	for depth := 0; ; depth++ {
		t := p.peek()
		if t.kind != tokSign || !slices.Contains(signs, t.text) {
			return n
		}
		if depth > maxDepth {
			panic(malformedText("The nesting is too deep"))
		}
		n = p.binary(nodeOp, n, operand)
	}
}

func (p *parser) unary() *node {
	t := p.peek()
	if t.kind != tokSign || t.text != "-" && t.text != "+" {
		return p.primary()
	}
	p.next()
	p.enterLevel()
	defer p.leaveLevel()
	n := p.unary()
	if n.kind != nodeValue || n.value.Kind() != attr.KindN {
		return &node{kind: nodeOp, at: t.at, name: t.text, args: []*node{n}}
	}
	if t.text == "+" {
		return n
	}
	if strings.Trim(n.name, "0.") == "" && strings.Contains(n.name, ".") {
		panic(invalidAt(n.at, "Negative zero decimal is not supported under key root"))
	}
	n.value = must(attr.Sub(attr.Int(0), n.value))
	return n
}

func (p *parser) primary() *node {
	p.enterLevel()
	defer p.leaveLevel()
	switch t := p.next(); t.kind {
	case tokWord, tokQuoted:
		if t.kind == tokWord && p.peek().is(tokSign, "(") {
			return p.call(t)
		}
		return p.path(t)
	case tokString:
		return &node{kind: nodeValue, at: t.at, value: attr.S(t.text)}
	case tokNumber:
		return number(t)
	case tokIon:
		return &node{kind: nodeIon, at: t.at, name: ionType(t.text)}
	case tokParam:
		p.params++
		return &node{kind: nodeParam, at: t.at, param: p.params - 1}
	case tokKeyword:
		return p.keyword(t)
	case tokSign:
		return p.parseBrackets(t)
	}
	panic(malformedText("Unexpected term"))
}

func (p *parser) keyword(t token) *node {
	switch t.text {
	case "true", "false":
		return &node{kind: nodeValue, at: t.at, value: attr.Bool(t.text == "true")}
	case "null":
		return &node{kind: nodeValue, at: t.at, value: attr.Null()}
	case "missing":
		return &node{kind: nodeMissing, at: t.at}
	}
	open := p.peek()
	switch {
	case !open.is(tokSign, "("):
		panic(malformedText("Unexpected keyword"))
	case t.text == "cast":
		panic(invalidAt(open.at, "Unsupported token in expression: cast"))
	}
	return p.call(t)
}

// call parses a function's arguments.
func (p *parser) call(name token) *node {
	p.next() // the parenthesis
	n := &node{kind: nodeCall, at: name.at, name: strings.ToLower(name.text)}
	if p.takeSign("*") { // COUNT(*)
		p.sign(")")
		return n
	}
	n.args = p.elements(")", true)
	return n
}

// elements parses expressions separated by commas, and the closing sign. An empty list is allowed only if empty is set.
func (p *parser) elements(end string, empty bool) (all []*node) {
	if empty && p.takeSign(end) {
		return nil
	}
	p.list(func() {
		if t := p.peek(); t.is(tokKeyword, "select") {
			panic(invalidAt(t.at, "Unsupported token in expression: SELECT"))
		}
		all = append(all, p.expression())
	})
	p.sign(end)
	return all
}

// parseBrackets parses the contents of brackets of any kind.
func (p *parser) parseBrackets(open token) *node {
	n := &node{at: open.at}
	switch open.text {
	case "(":
		n.kind, n.args = nodeList, p.elements(")", false)
		if len(n.args) == 1 {
			n = n.args[0]
		}
	case "[":
		n.kind, n.args = nodeList, p.elements("]", true)
	case "<<":
		n.kind, n.args = nodeBag, p.elements(">>", true)
	case "{":
		n.kind = nodeMap
		p.members(n)
	default:
		panic(malformedText("Unexpected term"))
	}
	return n
}

// members parses the contents of a map.
func (p *parser) members(n *node) {
	if p.takeSign("}") {
		return
	}
	p.list(func() {
		n.keys = append(n.keys, p.expression())
		p.sign(":")
		n.args = append(n.args, p.expression())
	})
	p.sign("}")
}
