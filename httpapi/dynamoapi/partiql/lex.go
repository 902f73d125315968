package partiql

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokEnd     tokenKind = iota // the end of the text
	tokWord                     // a bare name
	tokKeyword                  // a reserved word, in lower case
	tokQuoted                   // "a name"
	tokString                   // 'a text'
	tokNumber                   // an unsigned number
	tokIon                      // `a literal of Amazon Ion`
	tokParam                    // ?
	tokSign                     // an operator or a bracket
)

// token is a token of the text. text excludes quotes.
type token struct {
	kind tokenKind
	text string
	at   place
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

// lexer splits a text into tokens.
type lexer struct {
	rest         string
	line, column int // position of rest
}

// lex returns the tokens of a text; the last one is tokEnd. For invalid tokens the service only says that the statement is not well
// formed.
func lex(text string) []token {
	if !utf8.ValidString(text) {
		panic(malformedText(""))
	}
	x := lexer{rest: text, line: 1, column: 1}
	tokens := make([]token, 0, len(text)/3+2)
	for {
		x.blanks()
		t, width := x.scan()
		t.at = place{line: x.line, column: x.column, length: utf8.RuneCountInString(x.rest[:width])}
		x.skip(width)
		tokens = append(tokens, t)
		if t.kind == tokEnd {
			return tokens
		}
	}
}

// skip advances by n bytes.
func (x *lexer) skip(n int) {
	for _, r := range x.rest[:n] {
		x.column++
		if r == '\n' {
			x.line++
			x.column = 1
		}
	}
	x.rest = x.rest[n:]
}

// blanks skips white space and comments.
func (x *lexer) blanks() {
	for {
		n := len(x.rest) - len(strings.TrimLeft(x.rest, " \t\r\n\f\v"))
		switch {
		case n > 0:
		case strings.HasPrefix(x.rest, "--"):
			if n = strings.IndexByte(x.rest, '\n'); n < 0 {
				n = len(x.rest)
			}
		case strings.HasPrefix(x.rest, "/*"):
			end := strings.Index(x.rest[2:], "*/")
			if end < 0 {
				panic(malformedText(""))
			}
			n = 2 + end + 2
		default:
			return
		}
		x.skip(n)
	}
}

// scan returns the token at the start of the rest, and its length in bytes.
func (x *lexer) scan() (token, int) {
	if x.rest == "" {
		return token{}, 0
	}
	switch c := x.rest[0]; {
	case isLetter(c):
		return scanWord(x.rest)
	case isDigit(c), c == '.' && len(x.rest) > 1 && isDigit(x.rest[1]):
		n := numberWidth(x.rest)
		return token{kind: tokNumber, text: x.rest[:n]}, n
	case c == '\'':
		return scanQuoted(x.rest, tokString)
	case c == '"':
		return scanQuoted(x.rest, tokQuoted)
	case c == '`':
		end := strings.IndexByte(x.rest[1:], '`')
		if end < 0 {
			panic(malformedText(""))
		}
		return token{kind: tokIon, text: x.rest[1 : 1+end]}, end + 2
	case c == '?':
		return token{kind: tokParam, text: "?"}, 1
	}
	return scanSign(x.rest)
}

func scanWord(text string) (token, int) {
	n := 1
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n])) {
		n++
	}
	if lower := strings.ToLower(text[:n]); keyword(lower) {
		return token{kind: tokKeyword, text: lower}, n
	}
	return token{kind: tokWord, text: text[:n]}, n
}

// scanQuoted scans a quoted text, in which a doubled quote stands for one.
func scanQuoted(text string, kind tokenKind) (token, int) {
	quote := text[:1]
	for n := 1; ; {
		end := strings.Index(text[n:], quote)
		if end < 0 {
			panic(malformedText(""))
		}
		if n += end + 1; !strings.HasPrefix(text[n:], quote) {
			return token{kind: kind, text: strings.ReplaceAll(text[1:n-1], quote+quote, quote)}, n
		}
		n++
	}
}

// numberWidth returns the length of digits with an optional fraction and exponent.
func numberWidth(text string) int {
	n := digits(text, 0)
	if n < len(text) && text[n] == '.' {
		n = digits(text, n+1)
	}
	if n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		e := n + 1
		if e < len(text) && (text[e] == '+' || text[e] == '-') {
			e++
		}
		if end := digits(text, e); end > e {
			return end
		}
	}
	return n
}

func digits(text string, n int) int {
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func scanSign(text string) (token, int) {
	for _, sign := range []string{"<<", ">>", "<>", "<=", ">=", "!=", "||"} {
		if strings.HasPrefix(text, sign) {
			return token{kind: tokSign, text: sign}, len(sign)
		}
	}
	if strings.IndexByte("()[]{}<>=+-*/%,.:;", text[0]) >= 0 {
		return token{kind: tokSign, text: text[:1]}, 1
	}
	panic(malformedText(""))
}

// isLetter reports whether a word may start with the byte.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
