package expr

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is the type of a token.
type tokenKind uint8

const (
	tokEnd          tokenKind = iota // the end of the text
	tokOther                         // a character that starts no token
	tokWord                          // a bare attribute name or a function name
	tokName                          // #name, a placeholder for a name
	tokValue                         // :value, a placeholder for a value
	tokIndex                         // the digits of a list index
	tokAnd                           // from here to tokDelete keywords, which are never names
	tokOr                            //
	tokNot                           //
	tokBetween                       //
	tokIn                            //
	tokSet                           //
	tokRemove                        //
	tokAdd                           //
	tokDelete                        //
	tokEqual                         // =
	tokNotEqual                      // <>
	tokLess                          // <
	tokLessEqual                     // <=
	tokGreater                       // >
	tokGreaterEqual                  // >=
	tokPlus                          // +
	tokMinus                         // -
	tokOpen                          // (
	tokClose                         // )
	tokOpenIndex                     // [
	tokCloseIndex                    // ]
	tokComma                         // ,
	tokDot                           // .
)

// token is a piece of the text. maxLongText keeps the offsets within 16 bits.
type token struct {
	kind       tokenKind
	start, end uint16
}

// lex splits a text of at most maxLongText bytes into tokens. It never fails: unknown characters become tokOther, which no rule of the
// grammar accepts. The last token is tokEnd.
func lex(text string) []token {
	tokens := make([]token, 0, len(text)/3+2)
	for pos := 0; ; {
		for pos < len(text) && isSpace(text[pos]) {
			pos++
		}
		kind, width := scan(text[pos:])
		tokens = append(tokens, token{kind: kind, start: uint16(pos), end: uint16(pos + width)})
		if kind == tokEnd {
			return tokens
		}
		pos += width
	}
}

// scan returns the token at the start of a text and its width in bytes.
func scan(text string) (tokenKind, int) {
	if text == "" {
		return tokEnd, 0
	}
	switch c := text[0]; {
	case isLetter(c):
		n := wordLength(text)
		return wordKind(text[:n]), n
	case c == '#' || c == ':':
		n := 1 + wordLength(text[1:])
		switch {
		case n == 1:
			return tokOther, 1
		case c == '#':
			return tokName, n
		}
		return tokValue, n
	case isDigit(c):
		return tokIndex, indexLength(text)
	}
	return scanSign(text)
}

// scanSign is scan for operators and punctuation.
func scanSign(text string) (tokenKind, int) {
	switch {
	case strings.HasPrefix(text, "<>"):
		return tokNotEqual, 2
	case strings.HasPrefix(text, "<="):
		return tokLessEqual, 2
	case strings.HasPrefix(text, ">="):
		return tokGreaterEqual, 2
	}
	switch text[0] {
	case '=':
		return tokEqual, 1
	case '<':
		return tokLess, 1
	case '>':
		return tokGreater, 1
	case '+':
		return tokPlus, 1
	case '-':
		return tokMinus, 1
	case '(':
		return tokOpen, 1
	case ')':
		return tokClose, 1
	case '[':
		return tokOpenIndex, 1
	case ']':
		return tokCloseIndex, 1
	case ',':
		return tokComma, 1
	case '.':
		return tokDot, 1
	}
	_, width := utf8.DecodeRuneInString(text)
	return tokOther, width
}

// wordKind tells keywords from names, in any case. A keyword is one in every expression: "set" is no attribute name in a condition
// either.
func wordKind(word string) tokenKind {
	if len(word) > len("BETWEEN") {
		return tokWord
	}
	switch strings.ToUpper(word) {
	case "AND":
		return tokAnd
	case "OR":
		return tokOr
	case "NOT":
		return tokNot
	case "BETWEEN":
		return tokBetween
	case "IN":
		return tokIn
	case "SET":
		return tokSet
	case "REMOVE":
		return tokRemove
	case "ADD":
		return tokAdd
	case "DELETE":
		return tokDelete
	}
	return tokWord
}

func wordLength(text string) int {
	n := 0
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n]) || text[n] == '_') {
		n++
	}
	return n
}

// indexLength returns the length of a list index. An index has no leading zeros: "00" is two tokens, so it is refused.
func indexLength(text string) int {
	if text[0] == '0' {
		return 1
	}
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
