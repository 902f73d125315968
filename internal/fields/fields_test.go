package fields_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fields"
)

// Encoded fields are decoded again, and every truncated encoding is noticed.
func TestFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, signed := rapid.Uint64().Draw(t, "number"), rapid.Int64().Draw(t, "signed")
		text, one := rapid.SliceOf(rapid.Byte()).Draw(t, "text"), rapid.Byte().Draw(t, "one")
		b := binary.AppendUvarint(nil, number)
		b = binary.AppendVarint(b, signed)
		b = append(fields.Append(b, text), one)

		r := fields.Reader{B: b}
		if n, s := r.Uvarint(), r.Varint(); n != number || s != signed {
			t.Fatalf("%d and %d, want %d and %d", n, s, number, signed)
		}
		if got := r.Bytes(); !bytes.Equal(got, text) || cap(got) != len(got) {
			t.Fatalf("%x with room for %d, want %x", got, cap(got), text)
		}
		if c := r.Byte(); c != one || r.Bad || len(r.B) != 0 {
			t.Fatalf("%x, bad %t, %d left, want %x", c, r.Bad, len(r.B), one)
		}

		r = fields.Reader{B: b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]}
		r.Uvarint()
		r.Varint()
		r.Bytes()
		if r.Byte(); !r.Bad || r.B != nil {
			t.Fatalf("bad %t, %d left of what was cut short", r.Bad, len(r.B))
		}
	})
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		b    []byte
		want int
		bad  bool
	}{
		{[]byte{0}, 0, false},
		{[]byte{2, 7, 7}, 2, false},
		{[]byte{3, 7, 7}, 0, true},
		{binary.AppendUvarint(nil, math.MaxUint64), 0, true},
		{nil, 0, true},
	} {
		r := fields.Reader{B: tt.b}
		if n := r.Count(); n != tt.want || r.Bad != tt.bad {
			t.Errorf("%x: %d, bad %t", tt.b, n, r.Bad)
		}
	}
}
