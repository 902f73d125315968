package attr

import (
	"encoding/base64"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted appends a JSON string. What is not UTF-8 becomes U+FFFD: the reader gets JSON in any case.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' {
			i++
			continue
		}
		if b < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, b)
			i++
			start = i
			continue
		}
		r, width := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && width == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\ufffd`...)
			start = i + 1
		}
		i += width
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
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

// appendBase64 appends a binary as a JSON string, in pieces through the stack because the binary is held as a string.
func appendBase64(dst []byte, data string) []byte {
	var piece [96]byte // a multiple of three, so that only the last piece is padded
	dst = append(dst, '"')
	for len(data) > 0 {
		n := copy(piece[:], data)
		dst = base64.StdEncoding.AppendEncode(dst, piece[:n])
		data = data[n:]
	}
	return append(dst, '"')
}

// appendDigits appends a number: a canonical text needs no escapes.
func appendDigits(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}
