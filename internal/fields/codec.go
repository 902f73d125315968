package fields

import (
	"encoding/binary"
	"errors"
	"time"
)

// Record is what Encode writes and Decode reads. Fields describes its stored form once, for both: it calls the functions of this package
// with a pointer to each field, in the order of the fields' numbers. A field that is zero takes no room, and a field that was added later
// is zero in an older record.
//
//	func (p *Point) Fields(c *fields.Codec) {
//		c.Version(1)
//		fields.Uint(c, 1, &p.X)
//		fields.Uint(c, 2, &p.Y)
//		fields.Text(c, 3, &p.Name)
//		c.End()
//	}
type Record interface {
	// Fields writes the record to c, or reads it.
	Fields(c *Codec)
}

// Codec writes a record to B, or reads it from there. While it writes, the record is not changed.
type Codec struct {
	Reader

	Writing bool
	err     error // the first that is not "cut short"
}

var (
	errVersion = errors.New("unknown version")
	errCut     = errors.New("cut short")
	errField   = errors.New("trailing data")
)

// Encode returns the stored form of a record; room is about how long it is.
func Encode(room int, r Record) []byte {
	c := Codec{Reader: Reader{B: make([]byte, 0, room)}, Writing: true}
	r.Fields(&c)
	return c.B
}

// Decode reads what Encode wrote into r, which must be zero.
func Decode(b []byte, r Record) error {
	c := Codec{Reader: Reader{B: b}}
	r.Fields(&c)
	switch {
	case c.err != nil:
		return c.err
	case c.Bad:
		return errCut
	case len(c.B) > 0:
		return errField
	}
	return nil
}

// Fail stops reading.
func (c *Codec) Fail(err error) {
	if !c.Bad {
		c.err = err
	}
	c.fail()
}

// Version begins a record. A record of another version is not read.
func (c *Codec) Version(v byte) {
	if c.Writing {
		c.B = append(c.B, v)
	} else if c.Byte() != v {
		c.Fail(errVersion)
	}
}

// Has begins field n, unless it is zero: then it is left out. While reading it reports whether the field is there.
func (c *Codec) Has(n byte, zero bool) bool {
	switch {
	case c.Writing && !zero:
		c.B = append(c.B, n)
		return true
	case c.Writing || len(c.B) == 0 || c.B[0] != n:
		return false
	}
	c.B = c.B[1:]
	return true
}

// End ends a record. A field that nobody has asked for is an error.
func (c *Codec) End() {
	if c.Writing {
		c.B = append(c.B, 0)
	} else if c.Byte() != 0 {
		c.Fail(errField)
	}
}

// Number is a number that is always there, in an element of a list.
func Number[T ~uint8 | ~uint32 | ~uint64 | ~int | ~int64](c *Codec, v *T) {
	if c.Writing {
		c.B = binary.AppendUvarint(c.B, uint64(*v))
	} else {
		*v = T(c.Uvarint())
	}
}

// Uint is field n, a number. A negative one takes ten bytes.
func Uint[T ~uint8 | ~uint32 | ~uint64 | ~int | ~int64](c *Codec, n byte, v *T) {
	if c.Has(n, *v == 0) {
		Number(c, v)
	}
}

// Flag is field n, a bool.
func (c *Codec) Flag(n byte, v *bool) {
	if c.Has(n, !*v) && !c.Writing {
		*v = true
	}
}

// Text is field n, a string.
func Text[T ~string](c *Codec, n byte, v *T) {
	switch {
	case !c.Has(n, *v == ""):
	case c.Writing:
		c.B = Append(c.B, *v)
	default:
		*v = T(c.Bytes())
	}
}

// Time is field n, an instant, to the nanosecond. It is read in UTC.
func (c *Codec) Time(n byte, t *time.Time) {
	if !c.Has(n, t.IsZero()) {
		return
	}
	ns := t.UnixNano()
	if Number(c, &ns); !c.Writing {
		*t = time.Unix(0, ns).UTC()
	}
}

// List is field n, a list whose elements are written and read by each; an element takes at least one byte.
func List[T any](c *Codec, n byte, list *[]T, each func(*T)) {
	if !c.Has(n, len(*list) == 0) {
		return
	}
	count := len(*list)
	if c.Writing {
		Number(c, &count)
	} else {
		count = c.Count()
	}
	for i := 0; i < count && !c.Bad; i++ {
		if !c.Writing {
			*list = append(*list, *new(T))
		}
		each(&(*list)[i])
	}
}
