// Package jsonlex reads the tokens of a JSON text, strictly: it refuses what is not JSON by RFC 8259, text that is not UTF-8, and
// unpaired surrogates. Its errors for unexpected tokens have the texts of DynamoDB's SerializationException.
package jsonlex

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
)

// Lexer reads the tokens of a JSON text. Strings without escapes are substrings of the text.
type Lexer struct {
	Text string
	Pos  int
}

// Space skips white space.
func (x *Lexer) Space() {
	for x.Pos < len(x.Text) {
		switch x.Text[x.Pos] {
		case ' ', '\t', '\n', '\r':
			x.Pos++
		default:
			return
		}
	}
}

// SkipTo skips white space and the given character; it returns false if another character follows.
func (x *Lexer) SkipTo(b byte) bool {
	if x.Pos < len(x.Text) && x.Text[x.Pos] == b { // the usual case: no white space
		x.Pos++
		return true
	}
	x.Space()
	if x.Pos < len(x.Text) && x.Text[x.Pos] == b {
		x.Pos++
		return true
	}
	return false
}

// Expect is SkipTo with an error.
func (x *Lexer) Expect(b byte) error {
	if !x.SkipTo(b) {
		return x.UnexpectedError("'" + string(rune(b)) + "'")
	}
	return nil
}

// Next reports whether another element follows the first i, and skips the comma or the end.
func (x *Lexer) Next(i int, end byte) (bool, error) {
	if x.SkipTo(end) {
		return false, nil
	}
	if i == 0 {
		return true, nil
	}
	return true, x.Expect(',')
}

// UnexpectedError returns the error of an unexpected character at the current position.
func (x *Lexer) UnexpectedError(wanted string) error {
	if x.Pos >= len(x.Text) {
		return MalformedError("Unexpected end of JSON: %s expected", wanted)
	}
	return MalformedError("Unexpected character at byte %d of the JSON: %s expected", x.Pos, wanted)
}

// Mismatch returns DynamoDB's error of a value with the wrong JSON type; if there is no value at all, it returns UnexpectedError.
func (x *Lexer) Mismatch(wanted string) error {
	x.Space()
	rest := x.Text[x.Pos:]
	switch {
	case rest == "":
	case rest[0] == '"' && wanted == "Boolean":
		return MalformedError("Unexpected token received from parser")
	case rest[0] == '"':
		return MalformedError("STRING_VALUE cannot be converted to %s", wanted)
	case rest[0] == '-' || rest[0]-'0' <= 9:
		number := rest[:max(1, len(rest)-len(strings.TrimLeft(rest, "+-.0123456789eE")))]
		if strings.ContainsAny(number, ".eE") {
			return MalformedError("DECIMAL_VALUE cannot be converted to %s", wanted)
		}
		return MalformedError("NUMBER_VALUE cannot be converted to %s", wanted)
	case strings.HasPrefix(rest, "true"):
		return MalformedError("TRUE_VALUE cannot be converted to %s", wanted)
	case strings.HasPrefix(rest, "false"):
		return MalformedError("FALSE_VALUE cannot be converted to %s", wanted)
	case rest[0] == '{':
		return MalformedError("Start of structure or map found where not expected")
	case rest[0] == '[':
		return MalformedError("Unrecognized collection type class java.lang.%s", wanted)
	}
	return x.UnexpectedError("a value of type " + wanted)
}

// NoStructure returns the error of a value where an object with the given shape of the API was expected. field says that the object is a
// field of another shape, rather than an element or an entry.
func (x *Lexer) NoStructure(shape string, field bool) error {
	x.Space()
	switch rest := x.Text[x.Pos:]; {
	case !beginsValue(rest):
		return x.UnexpectedError("'{'")
	case rest[0] == '[' && shape != "":
		return MalformedError("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.%s", shape)
	case field:
		return MalformedError("Unexpected field type")
	}
	return MalformedError("Unexpected value type in payload")
}

// NoMap returns the error of a value where an object with entries of the given Java type was expected.
func (x *Lexer) NoMap(of string) error {
	x.Space()
	switch rest := x.Text[x.Pos:]; {
	case !beginsValue(rest):
		return x.UnexpectedError("'{'")
	case rest[0] == '[':
		return MalformedError("Unrecognized collection type java.util.Map<java.lang.String, %s>", of)
	}
	return MalformedError("Unexpected field type")
}

// NoList returns the error of a value where an array was expected.
func (x *Lexer) NoList() error {
	x.Space()
	switch rest := x.Text[x.Pos:]; {
	case !beginsValue(rest):
		return x.UnexpectedError("'['")
	case rest[0] == '{':
		return MalformedError("Start of structure or map found where not expected")
	}
	return MalformedError("Unexpected field type")
}

// beginsValue reports whether a text starts like a value other than null.
func beginsValue(text string) bool {
	return text != "" && strings.IndexByte(`{["tf-0123456789`, text[0]) >= 0
}

// Bool reads true or false.
func (x *Lexer) Bool() (bool, error) {
	x.Space()
	rest := x.Text[x.Pos:]
	switch {
	case strings.HasPrefix(rest, "true"):
		x.Pos += len("true")
		return true, nil
	case strings.HasPrefix(rest, "false"):
		x.Pos += len("false")
		return false, nil
	}
	return false, x.Mismatch("Boolean")
}

// ReadString reads a string.
func (x *Lexer) ReadString() (string, error) {
	if !x.SkipTo('"') {
		return "", x.Mismatch("String")
	}
	start, ascii := x.Pos, byte(0)
	for i := start; i < len(x.Text); i++ {
		b := x.Text[i]
		ascii |= b
		switch {
		case b == '"':
			x.Pos = i + 1
			return x.checkUTF8(x.Text[start:i], start, ascii)
		case b == '\\':
			return x.readEscaped(start)
		case b < ' ':
			x.Pos = i
			return "", x.UnexpectedError("a character above U+001F")
		}
	}
	x.Pos = len(x.Text)
	return "", x.UnexpectedError("'\"'")
}

// checkUTF8 refuses a string that is not UTF-8. ascii is the OR of all its bytes.
func (x *Lexer) checkUTF8(s string, start int, ascii byte) (string, error) {
	if ascii >= utf8.RuneSelf && !utf8.ValidString(s) {
		return "", MalformedError("The JSON string at byte %d is not UTF-8", start)
	}
	return s, nil
}

// readEscaped reads a string with escapes, from its start.
func (x *Lexer) readEscaped(start int) (string, error) {
	var b strings.Builder
	x.Pos = start
	for x.Pos < len(x.Text) {
		c := x.Text[x.Pos]
		switch {
		case c == '"':
			x.Pos++
			return x.checkUTF8(b.String(), start, utf8.RuneSelf)
		case c < ' ':
			return "", x.UnexpectedError("a character above U+001F")
		case c == '\\':
			x.Pos++
			if err := x.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			x.Pos++
		}
	}
	return "", x.UnexpectedError("'\"'")
}

// escape reads what follows a backslash.
func (x *Lexer) escape(b *strings.Builder) error {
	if x.Pos >= len(x.Text) {
		return x.UnexpectedError("an escape")
	}
	c := x.Text[x.Pos]
	if c == 'u' {
		x.Pos++
		return x.unicode(b)
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return x.UnexpectedError("an escape")
	}
	b.WriteByte("\"\\/\b\f\n\r\t"[i])
	x.Pos++
	return nil
}

// unicode reads the digits of \uXXXX and, for a surrogate, a second escape. An unpaired surrogate is an error.
func (x *Lexer) unicode(b *strings.Builder) error {
	at := x.Pos - 2
	r, ok := x.hex4()
	if ok && utf16.IsSurrogate(r) {
		second := rune(0)
		if strings.HasPrefix(x.Text[x.Pos:], `\u`) {
			x.Pos += 2
			second, ok = x.hex4()
		}
		if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
			ok = false
		}
	}
	if !ok {
		return MalformedError("Bad \\u escape at byte %d of the JSON", at)
	}
	b.WriteRune(r)
	return nil
}

func (x *Lexer) hex4() (rune, bool) {
	if len(x.Text)-x.Pos < 4 {
		return 0, false
	}
	r := rune(0)
	for range 4 {
		c := x.Text[x.Pos]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
		x.Pos++
	}
	return r, true
}

// MalformedError returns the error of a JSON that DynamoDB refuses with a SerializationException, before it validates the values.
func MalformedError(format string, args ...any) error {
	return fault.New(fault.Invalid, "serialization", format, args...)
}
