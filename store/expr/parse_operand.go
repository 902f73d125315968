package expr

import "strconv"

// operand parses a path, a value placeholder or a function call, with or without parentheses.
func (p *parser) operand() (node, error) {
	switch p.peek() {
	case tokOpen:
		return p.parens(p.operand)
	case tokValue:
		return node{op: opValue, value: p.placeholder(&p.out.values)}, nil
	case tokWord:
		if p.tokens[p.pos+1].kind == tokOpen {
			return p.call()
		}
	}
	at, err := p.path()
	return node{op: opPath, path: at}, err
}

// operands parses one or more operands, separated by commas.
func (p *parser) operands() ([]node, error) {
	var list []node
	for {
		n, err := p.usable(p.operand)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.accept(tokComma) {
			return list, nil
		}
	}
}

// call parses a function call.
func (p *parser) call() (node, error) {
	at := p.pos
	name := p.next()
	fn := functionOp(name)
	p.checkFunction(at, name, fn)
	p.next()
	if err := p.enterLevel(); err != nil {
		return node{}, err
	}
	defer p.leaveLevel()
	args, err := p.operands()
	if err != nil {
		return node{}, err
	}
	_, err = p.expect(tokClose)
	p.operators++
	return node{op: fn, at: at, args: args}, err
}

// checkFunction complains about an unknown function, or one that this grammar does not allow: if_not_exists in a condition, size in an
// update.
func (p *parser) checkFunction(at int, name string, fn op) {
	ofUpdates := fn == opIfNotExists || fn == opListAppend
	switch {
	case fn == opUnknown:
		p.complain(rankWord, at, "Invalid function name; function: %s", name)
	case p.grammar == grammarCondition && ofUpdates:
		p.complain(rankWord, at, "The function is not allowed in a condition expression; function: %s", name)
	case p.grammar == grammarUpdate && !ofUpdates:
		p.complain(rankWord, at, "The function is not allowed in an update expression; function: %s", name)
	}
}

// usable parses a node that is an operand. Only the functions size and if_not_exists return a value that another function or operator can
// use.
func (p *parser) usable(read func() (node, error)) (node, error) {
	n, err := read()
	if err == nil {
		p.checkUsable(n)
	}
	return n, err
}

func (p *parser) checkUsable(n node) {
	if n.op.isFunction() && n.op != opUnknown && n.op != opSize && n.op != opIfNotExists {
		p.refuseMisuse(n)
	}
}

func (p *parser) refuseMisuse(fn node) {
	p.complain(rankWord, fn.at, "The function is not allowed to be used this way in an expression; function: %s", fn.op)
}

// path parses a document path, such as a.#n[3].c.
func (p *parser) path() (path, error) {
	first, err := p.pathName()
	if err != nil {
		return nil, err
	}
	at := path{first}
	for {
		var e element
		switch {
		case p.accept(tokDot):
			e, err = p.pathName()
		case p.accept(tokOpenIndex):
			e, err = p.pathIndex()
		default:
			if len(at) > maxPath {
				p.complain(rankLimit, p.pos, "The document path has too many nesting levels; nesting levels: %d", len(at))
			}
			return at, nil
		}
		if err != nil {
			return nil, err
		}
		at = append(at, e)
	}
}

func (p *parser) pathName() (element, error) {
	switch p.peek() {
	case tokName:
		return element{kind: elementPlaceholder, number: p.placeholder(&p.out.names)}, nil
	case tokWord:
		at, name := p.pos, p.next()
		if isReserved(name) {
			p.complain(rankWord, at, "Attribute name is a reserved keyword; reserved keyword: %s", name)
		}
		return element{kind: elementName, name: name}, nil
	}
	return element{}, p.syntaxError()
}

func (p *parser) pathIndex() (element, error) {
	digits, err := p.expect(tokIndex)
	if err != nil {
		return element{}, err
	}
	index, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		p.complain(rankLimit, p.pos, "List index is not within the allowable range; index: [%s]", digits)
	}
	_, err = p.expect(tokCloseIndex)
	return element{kind: elementIndex, number: int(index)}, err
}

// placeholder consumes the current token and returns its number among the placeholders of its type.
func (p *parser) placeholder(list *[]string) int {
	text := p.next()
	number, seen := p.out.number[text]
	if seen {
		return number
	}
	if p.out.number == nil {
		p.out.number = make(map[string]int)
	}
	number = len(*list)
	p.out.number[text] = number
	*list = append(*list, text)
	return number
}
