package attr

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lexer reads the tokens of a JSON text. Strings without escapes are parts of the text itself.
type lexer struct {
	text string
	pos  int
}

func (x *lexer) space() {
	for x.pos < len(x.text) {
		switch x.text[x.pos] {
		case ' ', '\t', '\n', '\r':
			x.pos++
		default:
			return
		}
	}
}

// take steps over one character, behind white space; false where something else stands.
func (x *lexer) take(b byte) bool {
	if x.pos < len(x.text) && x.text[x.pos] == b { // the usual case: no white space
		x.pos++
		return true
	}
	x.space()
	if x.pos < len(x.text) && x.text[x.pos] == b {
		x.pos++
		return true
	}
	return false
}

// expect is take with an error.
func (x *lexer) expect(b byte) error {
	if !x.take(b) {
		return x.unexpected("'" + string(rune(b)) + "'")
	}
	return nil
}

// next tells whether another element follows the i before it, and steps over the comma or over the end.
func (x *lexer) next(i int, end byte) (bool, error) {
	if x.take(end) {
		return false, nil
	}
	if i == 0 {
		return true, nil
	}
	return true, x.expect(',')
}

func (x *lexer) unexpected(wanted string) error {
	if x.pos >= len(x.text) {
		return malformed("Unexpected end of JSON: %s expected", wanted)
	}
	return malformed("Unexpected character at byte %d of the JSON: %s expected", x.pos, wanted)
}

// boolean reads true or false.
func (x *lexer) boolean() (bool, error) {
	x.space()
	rest := x.text[x.pos:]
	switch {
	case strings.HasPrefix(rest, "true"):
		x.pos += len("true")
		return true, nil
	case strings.HasPrefix(rest, "false"):
		x.pos += len("false")
		return false, nil
	}
	return false, x.unexpected("true or false")
}

// quoted reads a string.
func (x *lexer) quoted() (string, error) {
	if !x.take('"') {
		return "", x.unexpected("a string")
	}
	start, ascii := x.pos, byte(0)
	for i := start; i < len(x.text); i++ {
		b := x.text[i]
		ascii |= b
		switch {
		case b == '"':
			x.pos = i + 1
			return x.checked(x.text[start:i], start, ascii)
		case b == '\\':
			return x.escaped(start)
		case b < ' ':
			x.pos = i
			return "", x.unexpected("a character above U+001F")
		}
	}
	x.pos = len(x.text)
	return "", x.unexpected("'\"'")
}

// checked refuses a string that is not UTF-8; ascii holds the bits of all its bytes.
func (x *lexer) checked(s string, start int, ascii byte) (string, error) {
	if ascii >= utf8.RuneSelf && !utf8.ValidString(s) {
		return "", malformed("The JSON string at byte %d is not UTF-8", start)
	}
	return s, nil
}

// escaped reads a string that has escapes, from its start.
func (x *lexer) escaped(start int) (string, error) {
	var b strings.Builder
	x.pos = start
	for x.pos < len(x.text) {
		c := x.text[x.pos]
		switch {
		case c == '"':
			x.pos++
			return x.checked(b.String(), start, utf8.RuneSelf)
		case c < ' ':
			return "", x.unexpected("a character above U+001F")
		case c == '\\':
			x.pos++
			if err := x.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			x.pos++
		}
	}
	return "", x.unexpected("'\"'")
}

// escape reads what follows a backslash.
func (x *lexer) escape(b *strings.Builder) error {
	if x.pos >= len(x.text) {
		return x.unexpected("an escape")
	}
	c := x.text[x.pos]
	if c == 'u' {
		x.pos++
		return x.unicode(b)
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return x.unexpected("an escape")
	}
	b.WriteByte("\"\\/\b\f\n\r\t"[i])
	x.pos++
	return nil
}

// unicode reads the digits of \uXXXX, and a second escape where the first is half of a pair. A half alone is no
// character.
func (x *lexer) unicode(b *strings.Builder) error {
	at := x.pos - 2
	r, ok := x.hex4()
	if ok && utf16.IsSurrogate(r) {
		second := rune(0)
		if strings.HasPrefix(x.text[x.pos:], `\u`) {
			x.pos += 2
			second, ok = x.hex4()
		}
		if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
			ok = false
		}
	}
	if !ok {
		return malformed("Bad \\u escape at byte %d of the JSON", at)
	}
	b.WriteRune(r)
	return nil
}

func (x *lexer) hex4() (rune, bool) {
	if len(x.text)-x.pos < 4 {
		return 0, false
	}
	r := rune(0)
	for range 4 {
		c := x.text[x.pos]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
		x.pos++
	}
	return r, true
}
