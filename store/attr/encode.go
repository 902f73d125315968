package attr

import (
	"encoding/binary"
	"slices"
)

// Encode appends the binary form of an item to dst. Equal items have equal bytes. Check must accept the item; a value that is absent
// anyway is written as a null.
func Encode(dst []byte, it Item) []byte {
	return appendMap(append(dst, wireVersion), it)
}

func appendMap(dst []byte, it Item) []byte {
	var few [32]string // most items fit, so nothing is allocated for the names
	dst = binary.AppendUvarint(dst, uint64(len(it)))
	for _, name := range sortedNames(few[:0], it) {
		dst = appendText(dst, name)
		dst = appendValue(dst, it[name])
	}
	return dst
}

// sortedNames appends the names of an item in ascending order.
func sortedNames(names []string, it Item) []string {
	for name := range it {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func appendText(dst []byte, text string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

func appendValue(dst []byte, v Value) []byte {
	switch v.kind {
	case KindS:
		return appendText(append(dst, tagS), v.text)
	case KindN:
		return appendText(append(dst, tagN), v.text)
	case KindB:
		return appendText(append(dst, tagB), v.text)
	case KindBool:
		if v.flag {
			return append(dst, tagTrue)
		}
		return append(dst, tagFalse)
	case KindL:
		return appendList(dst, v.List())
	case KindM:
		dst, start := openSized(dst, tagM)
		return closeSized(appendMap(dst, v.Map()), start)
	case KindSS:
		return appendSet(dst, tagSS, v.set())
	case KindNS:
		return appendSet(dst, tagNS, v.set())
	case KindBS:
		return appendSet(dst, tagBS, v.set())
	default:
		return append(dst, tagNull)
	}
}

func appendList(dst []byte, list []Value) []byte {
	dst, start := openSized(dst, tagL)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, v := range list {
		dst = appendValue(dst, v)
	}
	return closeSized(dst, start)
}

func appendSet(dst []byte, tag byte, set []string) []byte {
	dst, start := openSized(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(len(set)))
	for _, member := range set {
		dst = appendText(dst, member)
	}
	return closeSized(dst, start)
}

// openSized appends a tag and leaves room for the size that closeSized fills in.
func openSized(dst []byte, tag byte) (out []byte, start int) {
	dst = append(dst, tag, 0, 0, 0, 0)
	return dst, len(dst)
}

func closeSized(dst []byte, start int) []byte {
	binary.LittleEndian.PutUint32(dst[start-sizeBytes:], uint32(len(dst)-start))
	return dst
}
