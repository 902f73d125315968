// Package fields encodes and decodes sequences of varints and of bytes preceded by their length.
package fields

import "encoding/binary"

// Append appends the length of s and s itself to b.
func Append[T ~string | ~[]byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// Reader reads fields from B. The first field that is missing sets Bad and empties B; from then on all fields are zero, so it is enough
// to check Bad after the last field.
type Reader struct {
	B   []byte // the rest
	Bad bool
}

func (r *Reader) fail() { r.B, r.Bad = nil, true }

// Uvarint reads an unsigned number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.B) == 0 {
		r.fail()
		return 0
	}
	v := r.B[0]
	r.B = r.B[1:]
	return v
}

// Count reads the number of elements that follow, each of at least one byte. It fails if there is no room for that many.
func (r *Reader) Count() int {
	n := r.Uvarint()
	if n > uint64(len(r.B)) {
		r.fail()
		return 0
	}
	return int(n)
}

// Bytes reads a length and that many bytes. They are a part of B; appending to them does not overwrite B.
func (r *Reader) Bytes() []byte {
	n := r.Count()
	if r.Bad {
		return nil
	}
	out := r.B[:n:n]
	r.B = r.B[n:]
	return out
}
