package sportmonks

import (
	"bytes"
	"errors"
)

// This file scans JSON text without decoding it. A Test's reply has 3 MB, of which one ball is new: unchanged
// parts must cost no more than a scan. What is used of a reply goes through encoding/json, which rejects invalid
// JSON; for ignored parts only brackets and quotes are checked.

var (
	errTruncated = errors.New("the text ends in the middle of a value")
	errSyntax    = errors.New("not JSON")
)

// space returns the first index from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string whose opening quote is at i.
func stringEnd(b []byte, i int) (int, error) {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1, nil
		}
	}
	return 0, errTruncated
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, errTruncated
	}
	switch b[i] {
	case '{', '[':
		return nestedEnd(b, i)
	case '"':
		return stringEnd(b, i)
	}
	start := i
	for i < len(b) && !bytes.ContainsRune([]byte(",]} \n\r\t"), rune(b[i])) {
		i++
	}
	if i == start {
		return 0, errSyntax
	}
	return i, nil
}

func nestedEnd(b []byte, i int) (int, error) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end, err := stringEnd(b, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, errTruncated
}

// delimiter skips the comma or closing bracket after an element; more reports whether it was a comma.
func delimiter(b []byte, i int, closing byte) (next int, more bool, err error) {
	i = space(b, i)
	if i >= len(b) {
		return 0, false, errTruncated
	}
	switch b[i] {
	case ',':
		return space(b, i+1), true, nil
	case closing:
		return i + 1, false, nil
	}
	return 0, false, errSyntax
}

// skipOpening skips the opening bracket at i, and the closing one of an empty object or array.
func skipOpening(b []byte, i int, opening, closing byte) (next int, more bool, err error) {
	i = space(b, i)
	if i >= len(b) {
		return 0, false, errTruncated
	}
	if b[i] != opening {
		return 0, false, errSyntax
	}
	i = space(b, i+1)
	if i >= len(b) {
		return 0, false, errTruncated
	}
	if b[i] == closing {
		return i + 1, false, nil
	}
	return i, true, nil
}

// eachField calls f with every name (in quotes) and the place of every value in the object at i. f returns the
// end of the value, which it may know without a scan.
func eachField(b []byte, i int, f func(name []byte, at int) (end int, err error)) (end int, err error) {
	i, more, err := skipOpening(b, i, '{', '}')
	for more && err == nil {
		if i >= len(b) || b[i] != '"' {
			return 0, endOr(b, i)
		}
		nameEnd, err := stringEnd(b, i)
		if err != nil {
			return 0, err
		}
		name := b[i:nameEnd]
		i = space(b, nameEnd)
		if i >= len(b) || b[i] != ':' {
			return 0, endOr(b, i)
		}
		if i, err = f(name, space(b, i+1)); err != nil {
			return 0, err
		}
		if i, more, err = delimiter(b, i, '}'); err != nil {
			return 0, err
		}
	}
	return i, err
}

// eachElement calls f with the place of every element in the array at i; f returns the end of the element.
func eachElement(b []byte, i int, f func(at int) (end int, err error)) (end int, err error) {
	i, more, err := skipOpening(b, i, '[', ']')
	for more && err == nil {
		if i, err = f(i); err != nil {
			return 0, err
		}
		if i, more, err = delimiter(b, i, ']'); err != nil {
			return 0, err
		}
	}
	return i, err
}

func endOr(b []byte, i int) error {
	if i >= len(b) {
		return errTruncated
	}
	return errSyntax
}

// field returns a value of the object at i, nil if it is absent.
func field(b []byte, i int, quoted string) (value []byte, err error) {
	_, err = eachField(b, i, func(name []byte, at int) (int, error) {
		end, err := valueEnd(b, at)
		if err == nil && string(name) == quoted {
			value = b[at:end]
		}
		return end, err
	})
	return value, err
}

// includeStart returns the place of an include's array, bare or within {"data":[...]}; -1 for null and anything else without a list.
func includeStart(b []byte, at int) int {
	if at >= len(b) || b[at] == '[' {
		return at
	}
	if b[at] != '{' {
		return -1
	}
	found := -1
	_, _ = eachField(b, at, func(name []byte, at int) (int, error) {
		if string(name) == `"data"` && at < len(b) && b[at] == '[' {
			found = at
		}
		return valueEnd(b, at)
	})
	return found
}
