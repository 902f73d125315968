package wire

import (
	"math"
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// Encoder appends JSON to a buffer and inserts commas. It does not check that objects and arrays are closed.
type Encoder struct {
	buf   []byte
	comma bool // a comma is needed before the next name or element
}

// NewEncoder returns an encoder that appends to buf.
func NewEncoder(buf []byte) *Encoder { return &Encoder{buf: buf} }

// Bytes returns what was encoded.
func (e *Encoder) Bytes() []byte { return e.buf }

// Reset discards what was encoded.
func (e *Encoder) Reset() { e.buf, e.comma = e.buf[:0], false }

func (e *Encoder) next() {
	if e.comma {
		e.buf = append(e.buf, ',')
	}
	e.comma = true
}

// Begin opens an object, as an element or after a name.
func (e *Encoder) Begin() { e.open('{') }

// End closes an object.
func (e *Encoder) End() { e.close('}') }

// EndArray closes an array.
func (e *Encoder) EndArray() { e.close(']') }

func (e *Encoder) open(b byte) {
	e.next()
	e.buf = append(e.buf, b)
	e.comma = false
}

func (e *Encoder) close(b byte) {
	e.buf = append(e.buf, b)
	e.comma = true
}

// Name writes the name of a member; its value follows.
func (e *Encoder) Name(name string) {
	e.next()
	e.buf = append(attr.AppendText(e.buf, name), ':')
	e.comma = false
}

// Text writes a string.
func (e *Encoder) Text(text string) {
	e.next()
	e.buf = attr.AppendText(e.buf, text)
}

// Float writes a number, always with a fraction or exponent, as the service writes doubles.
func (e *Encoder) Float(f float64) {
	e.next()
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		e.buf = strconv.AppendFloat(e.buf, f, 'f', 1, 64)
		return
	}
	e.buf = strconv.AppendFloat(e.buf, f, 'g', -1, 64)
}

// Item writes a map of attribute values.
func (e *Encoder) Item(it attr.Item) {
	e.next()
	e.buf = attr.AppendJSON(e.buf, it)
}

// WriteEncoded writes an item given in binary form. After an error nothing was written.
func (e *Encoder) WriteEncoded(it attr.Encoded) error {
	before := *e
	e.next()
	out, err := it.AppendJSON(e.buf)
	if err != nil {
		*e = before
		return err
	}
	e.buf = out
	return nil
}

// NamedText writes a string member.
func (e *Encoder) NamedText(name, text string) {
	e.Name(name)
	e.Text(text)
}

// TextObject writes an object of strings: a name, a text, a name, a text...
func (e *Encoder) TextObject(pairs ...string) {
	e.Begin()
	for i := 0; i+1 < len(pairs); i += 2 {
		e.NamedText(pairs[i], pairs[i+1])
	}
	e.End()
}

// NamedInt writes a whole number member.
func (e *Encoder) NamedInt(name string, n int64) {
	e.Name(name)
	e.next()
	e.buf = strconv.AppendInt(e.buf, n, 10)
}

// NamedBool writes a boolean member.
func (e *Encoder) NamedBool(name string, truth bool) {
	e.Name(name)
	e.next()
	e.buf = strconv.AppendBool(e.buf, truth)
}

// NamedFloat writes a number member, like Float.
func (e *Encoder) NamedFloat(name string, f float64) {
	e.Name(name)
	e.Float(f)
}

// NamedTexts writes a member with an array of strings.
func (e *Encoder) NamedTexts(name string, texts []string) {
	e.NamedArray(name)
	for _, text := range texts {
		e.Text(text)
	}
	e.EndArray()
}

// NamedObject opens a member that is an object.
func (e *Encoder) NamedObject(name string) {
	e.Name(name)
	e.Begin()
}

// NamedArray opens a member that is an array.
func (e *Encoder) NamedArray(name string) {
	e.Name(name)
	e.open('[')
}
