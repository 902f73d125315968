package attr

import (
	"encoding/base64"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendText appends a text as a JSON string, including the quotes.
func AppendText(dst []byte, text string) []byte {
	return append(appendString(append(dst, '"'), text), '"')
}

// The functions below write what is between the quotes of a JSON string.

// appendString appends a text. Invalid UTF-8 becomes U+FFFD, so the result is always JSON.
func appendString(dst []byte, s string) []byte {
	if allPlain(s) { // the usual case: one copy
		return append(dst, s...)
	}
	return appendEscaping(dst, s)
}

// allPlain reports whether a string needs no escaping in JSON. It examines eight bytes at a time; the last eight may overlap those
// before.
func allPlain(s string) bool {
	n := len(s)
	if n < 8 {
		return n >= 4 && plainWord(load4(s)|load4(s[n-4:])<<32) || plainLen(s) == n
	}
	for i := 0; i < n-8; i += 8 {
		if !plainWord(load4(s[i:]) | load4(s[i+4:])<<32) {
			return false
		}
	}
	return plainWord(load4(s[n-8:]) | load4(s[n-4:])<<32)
}

func load4(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// plainWord is allPlain for eight bytes: a subtraction borrows into the highest bit of each byte that is below ' ' or, after the
// exclusive or, is zero.
func plainWord(w uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	return (w|(w-' '*ones)|(w^'"'*ones-ones)|(w^'\\'*ones-ones))&high == 0
}

// plainLen returns how many bytes at the start of a string need no escaping.
func plainLen(s string) int {
	for i := range len(s) {
		if !isPlain(s[i]) {
			return i
		}
	}
	return len(s)
}

func isPlain(b byte) bool { return b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' }

func appendEscaping(dst []byte, s string) []byte {
	for s != "" {
		if n := plainLen(s); n > 0 {
			dst = append(dst, s[:n]...)
			s = s[n:]
			continue
		}
		if s[0] < utf8.RuneSelf {
			dst = appendEscape(dst, s[0])
			s = s[1:]
			continue
		}
		r, width := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && width == 1 {
			dst = append(dst, `\ufffd`...)
		} else {
			dst = append(dst, s[:width]...)
		}
		s = s[width:]
	}
	return dst
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xf])
}

// appendBase64 appends a binary in base64, piece by piece on the stack because the binary is held as a string.
func appendBase64(dst []byte, data string) []byte {
	var piece [96]byte // a multiple of three: only the last piece is padded
	for len(data) > 0 {
		n := copy(piece[:], data)
		dst = base64.StdEncoding.AppendEncode(dst, piece[:n])
		data = data[n:]
	}
	return dst
}

// appendDigits appends a number: a canonical text needs no escapes.
func appendDigits(dst []byte, text string) []byte { return append(dst, text...) }
