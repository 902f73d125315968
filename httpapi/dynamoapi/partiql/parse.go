package partiql

import (
	"cmp"
	"strings"
)

// maxDepth bounds the recursion. The service has its own bound, which is not documented; no sensible text comes near.
const maxDepth = 500

// maxChars is the longest text, in characters.
const maxChars = 8192

// parser reads the tokens of a text.
type parser struct {
	tokens []token
	pos    int
	params int // seen so far
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.pos] }

// next steps over a token. The end stays.
func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// take steps over the token if it is there.
func (p *parser) take(kind tokenKind, text string) bool {
	if !p.peek().is(kind, text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) takeSign(text string) bool { return p.take(tokSign, text) }
func (p *parser) takeWord(word string) bool { return p.take(tokKeyword, word) }

// sign is takeSign where nothing else may stand.
func (p *parser) sign(text string) error {
	if !p.takeSign(text) {
		return malformed("Expected " + signName(text))
	}
	return nil
}

func signName(text string) string {
	name := map[string]string{
		"(": "LEFT_PAREN", ")": "RIGHT_PAREN", "]": "RIGHT_BRACKET", "}": "RIGHT_CURLY", ":": "COLON", ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
	}[text]
	return cmp.Or(name, text)
}

// word is takeWord where nothing else may stand.
func (p *parser) word(word string) error {
	if !p.takeWord(word) {
		return malformed("Expected " + strings.ToUpper(word))
	}
	return nil
}

// enter goes one level deeper; leave goes back.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return malformed("The nesting is too deep")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// Parse reads a statement of at most 8,192 characters.
func Parse(text string) (*Statement, error) {
	if len(text) > maxChars*4 {
		return nil, malformed("The statement is too long")
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	p.takeSign(";")
	if p.peek().kind != tokEnd {
		return nil, malformed("Unexpected token after expression")
	}
	s.params = p.params
	return s, s.check()
}

func (p *parser) statement() (*Statement, error) {
	switch first := p.next(); {
	case first.is(tokKeyword, "select"):
		return p.selecting()
	case first.is(tokKeyword, "insert"):
		return p.inserting()
	case first.is(tokKeyword, "update"):
		return p.updating()
	case first.is(tokKeyword, "delete"):
		return p.deleting()
	case first.is(tokKeyword, "from"):
		return p.updatingFrom()
	case first.is(tokKeyword, "exists") && p.takeSign("("):
		if err := p.word("select"); err != nil {
			return nil, err
		}
		s, err := p.selecting()
		if err != nil {
			return nil, err
		}
		s.Kind = Exists
		return s, p.sign(")")
	case first.is(tokSign, "(") && p.takeWord("select"):
		s, err := p.selecting()
		if err != nil {
			return nil, err
		}
		return s, p.sign(")")
	}
	return nil, malformed("Expected data manipulation")
}
