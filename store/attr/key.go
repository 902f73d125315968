package attr

import (
	"bytes"
	"strings"
)

// Keys sort as DynamoDB sorts their values and mark their own end, so the parts of a composite key can follow each other. A string or
// binary is its bytes, with 0x00 written as 0x00 0xff, then 0x00 0x01: "a" is 61 00 01, "a\x00" is 61 00 ff 00 01.
const (
	keyEscape     = 0x00
	keyEscapedNul = 0xff
	keyEnd        = 0x01
)

// AppendKey appends the order-preserving bytes of a string, a number or a binary; no other type can be a key. The bytes do not contain
// the type, because all values of a key attribute have the same.
func AppendKey(dst []byte, v Value) ([]byte, error) {
	switch v.kind {
	case KindS, KindB:
		dst = appendEscaped(dst, v.text)
		return append(dst, keyEscape, keyEnd), nil
	case KindN:
		return appendKeyNumber(dst, v.text)
	default:
		return dst, notAKey(v)
	}
}

// AppendKeyPrefix appends the common prefix of the keys of all strings (or binaries) that begin with v.
func AppendKeyPrefix(dst []byte, v Value) ([]byte, error) {
	if v.kind != KindS && v.kind != KindB {
		return dst, notAKey(v)
	}
	return appendEscaped(dst, v.text), nil
}

func notAKey(v Value) error {
	return invalid("One or more parameter values were invalid: a value of type %s has no place in a key", v.kind)
}

func appendEscaped(dst []byte, text string) []byte {
	for {
		i := strings.IndexByte(text, keyEscape)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		dst = append(dst, keyEscape, keyEscapedNul)
		text = text[i+1:]
	}
}

// ReadKey reads a value of type k written by AppendKey, and returns the bytes after it.
func ReadKey(src []byte, k Kind) (v Value, rest []byte, err error) {
	switch k {
	case KindS, KindB:
		text, rest, ok := readEscaped(src)
		if !ok {
			return Value{}, nil, damagedBytes("a key")
		}
		return Value{kind: k, text: text}, rest, nil
	case KindN:
		d, rest, ok := readKeyNumber(src)
		if !ok {
			return Value{}, nil, damagedBytes("a key")
		}
		return Value{kind: KindN, text: string(d.appendText(nil))}, rest, nil
	default:
		return Value{}, nil, notAKey(Value{kind: k})
	}
}

// KeyLen returns the length of the key of type k at the start of src.
func KeyLen(src []byte, k Kind) (int, error) {
	var rest []byte
	var ok bool
	switch k {
	case KindS, KindB:
		end := bytes.Index(src, []byte{keyEscape, keyEnd})
		if end < 0 {
			return 0, damagedBytes("a key")
		}
		return end + 2, nil
	case KindN:
		_, rest, ok = readKeyNumber(src)
	default:
		return 0, notAKey(Value{kind: k})
	}
	if !ok {
		return 0, damagedBytes("a key")
	}
	return len(src) - len(rest), nil
}

func readEscaped(src []byte) (text string, rest []byte, ok bool) {
	nuls := 0
	for i := 0; i+1 < len(src); i++ {
		if src[i] != keyEscape {
			continue
		}
		i++
		switch src[i] {
		case keyEnd:
			return unescape(src[:i-1], nuls), src[i+1:], true
		case keyEscapedNul:
			nuls++
		default:
			return "", nil, false
		}
	}
	return "", nil, false
}

func unescape(src []byte, nuls int) string {
	if nuls == 0 {
		return string(src)
	}
	return strings.ReplaceAll(string(src), "\x00\xff", "\x00")
}
