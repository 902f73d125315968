package expr

import "fmt"

// DynamoDB's limits for one expression, and one of our own: maxDepth limits the recursion of the parser. An expression within
// maxOperators and without redundant parentheses cannot reach it.
const (
	maxText      = 4096
	maxLongText  = 1<<16 - 1 // with Params.Long: token offsets have 16 bits
	maxOperators = 300
	maxOperands  = 100 // of IN
	maxPath      = 32  // elements of a document path
	maxIndex     = 1<<31 - 1
	maxDepth     = 2 * (maxOperators + 2)
)

// refuse returns an error with DynamoDB's text, without the name of the expression: a parsed expression may serve several roles.
// form.wrapError adds the name.
func refuse(format string, args ...any) error { return fmt.Errorf(format, args...) }

// grammar is one of the three grammars. Filters and key conditions use that of conditions.
type grammar uint8

const (
	grammarCondition grammar = iota
	grammarUpdate
	grammarProjection
)

// rank orders the faults of an expression without syntax errors. DynamoDB reports only one: the lowest rank, and within a rank the first
// in the text. For example, "foo(a) AND size = :x" reports the function foo, not the reserved word size behind it.
type rank uint8

const (
	rankOperators rank = iota
	rankWord           // a name or function not allowed at its place
	rankLimit
	rankSection
	rankNothing
)

// parser turns the tokens of a text into nodes.
type parser struct {
	text      string
	grammar   grammar
	tokens    []token
	pos       int
	depth     int
	operators int
	out       *parsed
	complaint error
	worst     rank // rank of the complaint
	worstAt   int  // the token of the complaint
}

// parse parses a text. Its errors depend only on the text and on whether it may be long.
func parse(g grammar, text string, long bool) (*parsed, error) {
	if text == "" {
		return nil, refuse("The expression can not be empty;")
	}
	if len(text) > maxText && !long || len(text) > maxLongText {
		return nil, refuse("Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
	}
	p := &parser{text: text, grammar: g, tokens: lex(text), out: &parsed{}, worst: rankNothing}
	if err := p.run(); err != nil {
		return nil, err
	}
	if p.operators > maxOperators && !long {
		p.complain(rankOperators, 0, "The expression contains too many operators; operator count: %d", maxOperators+1)
	}
	if p.complaint != nil {
		return nil, p.complaint
	}
	return p.out, nil
}

func (p *parser) run() error {
	switch p.grammar {
	case grammarUpdate:
		return p.update()
	case grammarProjection:
		return p.projection()
	}
	return p.condition()
}

// complain records a fault and the token it is about, unless a worse or earlier one is recorded already.
func (p *parser) complain(r rank, at int, format string, args ...any) {
	if r < p.worst || r == p.worst && at < p.worstAt {
		p.worst, p.worstAt, p.complaint = r, at, refuse(format, args...)
	}
}

func (p *parser) peek() tokenKind { return p.tokens[p.pos].kind }

// next consumes the current token, except tokEnd, and returns its text.
func (p *parser) next() string {
	t := p.tokens[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return p.text[t.start:t.end]
}

// accept consumes the current token if it is of the given kind.
func (p *parser) accept(kind tokenKind) bool {
	if p.peek() != kind {
		return false
	}
	p.next()
	return true
}

// expect consumes the current token, which must be of the given kind, and returns its text.
func (p *parser) expect(kind tokenKind) (string, error) {
	if p.peek() != kind {
		return "", p.syntaxError()
	}
	return p.next(), nil
}

// syntaxError reports the current token. "near" is the text from the token before it to the end of the token after it.
func (p *parser) syntaxError() error {
	current := p.tokens[p.pos]
	word, from, to := "<EOF>", uint16(0), current.end
	if current.kind != tokEnd {
		word = p.text[current.start:current.end]
		to = p.tokens[p.pos+1].end
	}
	if p.pos > 0 {
		from = p.tokens[p.pos-1].start
	}
	return refuse("Syntax error; token: \"%s\", near: \"%s\"", word, p.text[from:to])
}

// enterLevel adds a level of nesting; leave removes it.
func (p *parser) enterLevel() error {
	p.depth++
	if p.depth > maxDepth {
		return refuse("The expression has too many nesting levels; nesting levels: %d", p.depth)
	}
	return nil
}

func (p *parser) leaveLevel() { p.depth-- }

// parens parses what inner parses, in parentheses. A second pair around it is refused, as in "((a = :x))".
func (p *parser) parens(inner func() (node, error)) (node, error) {
	if _, err := p.expect(tokOpen); err != nil {
		return node{}, err
	}
	if err := p.enterLevel(); err != nil {
		return node{}, err
	}
	defer p.leaveLevel()
	n, err := inner()
	if err != nil {
		return node{}, err
	}
	if _, err := p.expect(tokClose); err != nil {
		return node{}, err
	}
	if n.parens {
		return node{}, refuse("The expression has redundant parentheses;")
	}
	n.parens = true
	return n, nil
}
