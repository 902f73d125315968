// Package fields takes apart, and puts together, what is stored as a row of varints and of bytes behind their length.
package fields

import "encoding/binary"

// Append puts s behind b, its length first.
func Append[T ~string | ~[]byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// Reader takes fields off B. The first thing that is not there sets Bad and leaves nothing: from then on all fields are
// zero, so that one look at Bad behind the last field is enough.
type Reader struct {
	B   []byte // what is left
	Bad bool
}

func (r *Reader) fail() { r.B, r.Bad = nil, true }

// Uvarint takes an unsigned number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint takes a signed number.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Byte takes one byte.
func (r *Reader) Byte() byte {
	if len(r.B) == 0 {
		r.fail()
		return 0
	}
	v := r.B[0]
	r.B = r.B[1:]
	return v
}

// Count takes the number of things that follow, each of a byte at least: one that there is no room for is none.
func (r *Reader) Count() int {
	n := r.Uvarint()
	if n > uint64(len(r.B)) {
		r.fail()
		return 0
	}
	return int(n)
}

// Bytes takes bytes behind their length. They lie in what was given, and appending to them does not write into it.
func (r *Reader) Bytes() []byte {
	n := r.Count()
	if r.Bad {
		return nil
	}
	out := r.B[:n:n]
	r.B = r.B[n:]
	return out
}
