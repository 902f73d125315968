package partiql

import (
	"cmp"
	"strings"
)

// maxDepth limits the recursion. The service has its own undocumented limit; no reasonable text comes near it.
const maxDepth = 500

// maxChars is the longest text, in characters. The caller checks that; Parse only refuses texts that must be longer, by their bytes.
const maxChars = 8192

// parser parses the tokens of a text.
type parser struct {
	tokens []token
	pos    int
	params int // number of parameters seen so far
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.pos] }

// next consumes a token, except the end.
func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// consume consumes the token if it is next.
func (p *parser) consume(kind tokenKind, text string) bool {
	if !p.peek().is(kind, text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) takeSign(text string) bool { return p.consume(tokSign, text) }
func (p *parser) takeWord(word string) bool { return p.consume(tokKeyword, word) }

// sign is takeSign where the sign is required.
func (p *parser) sign(text string) {
	if !p.takeSign(text) {
		panic(malformedText("Expected " + signName(text)))
	}
}

func signName(text string) string {
	name := map[string]string{
		"(": "LEFT_PAREN", ")": "RIGHT_PAREN", "]": "RIGHT_BRACKET", "}": "RIGHT_CURLY", ":": "COLON", ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
	}[text]
	return cmp.Or(name, text)
}

// word is takeWord where the word is required.
func (p *parser) word(word string) {
	if !p.takeWord(word) {
		panic(malformedText("Expected " + strings.ToUpper(word)))
	}
}

// enterLevel descends one level; leave ascends.
func (p *parser) enterLevel() {
	if p.depth++; p.depth > maxDepth {
		panic(malformedText("The nesting is too deep"))
	}
}

func (p *parser) leaveLevel() { p.depth-- }

// list calls read for each of several elements separated by commas.
func (p *parser) list(read func()) {
	for more := true; more; more = p.takeSign(",") {
		read()
	}
}

// Parse parses a statement.
func Parse(text string) (_ *Statement, err error) {
	defer caught(&err)
	if len(text) > maxChars*4 {
		panic(malformedText("The statement is too long"))
	}
	p := &parser{tokens: lex(text)}
	s := p.statement()
	p.takeSign(";")
	if p.peek().kind != tokEnd {
		panic(malformedText("Unexpected token after expression"))
	}
	s.params = p.params
	s.check()
	return s, nil
}

func (p *parser) statement() (s *Statement) {
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
		p.word("select")
		s = p.selecting()
		s.Kind = Exists
	case first.is(tokSign, "(") && p.takeWord("select"):
		s = p.selecting()
	default:
		panic(malformedText("Expected data manipulation"))
	}
	p.sign(")")
	return s
}
