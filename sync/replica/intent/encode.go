package intent

import (
	"encoding/base64"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Encode returns the stored form of the entry; DecodeEntry reads it.
func (e *Entry) Encode() []byte { return fields.Encode(512, e) }

// DecodeEntry reads what Encode wrote. Anything else is fault.Damaged.
func DecodeEntry(b []byte) (*Entry, error) {
	e := &Entry{}
	if err := fields.Decode(b, e); err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "entry_damaged", "an entry of the outbox cannot be read")
	}
	return e, nil
}

// MarshalText returns the stored form as base64, for records in JSON.
func (e *Entry) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, e.Encode()), nil
}

// UnmarshalText reads what MarshalText returned.
func (e *Entry) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	read, err := DecodeEntry(b)
	if err == nil {
		*e = *read
	}
	return err
}

// Fields describes the stored form of the entry: a Write has the numbers up to 39, Progress those up to 69. No number is used again for
// another field.
func (e *Entry) Fields(c *fields.Codec) {
	c.Version(2)
	e.Write.fields(c)
	e.Progress.fields(c)
	e.Recovery.fields(c)
	c.End()
}

func (w *Write) fields(c *fields.Codec) {
	fields.Uint(c, 1, &w.Seq)
	fields.Uint(c, 2, &w.Digits)
	fields.Uint(c, 3, &w.Txn)
	fields.Uint(c, 4, &w.Group)
	fields.List(c, 5, &w.Folds, func(seq *uint64) { fields.Number(c, seq) })
	fields.Uint(c, 6, &w.Begun)
	fields.Text(c, 7, &w.Table)
	fields.Text(c, 8, &w.Policy)
	Item(c, 9, &w.Key)
	fields.Uint(c, 10, &w.Op)
	Item(c, 11, &w.Item)
	fields.Text(c, 12, &w.Update)
	fields.Text(c, 13, &w.Condition)
	params(c, 14, &w.Params)
	fields.List(c, 15, &w.Checks, func(check *Check) { check.fields(c) })
	c.Time(16, &w.At)
	fields.Uint(c, 17, &w.Stamp)
	c.Flag(18, &w.Provisional)
	fields.Text(c, 19, &w.Lock)
	fields.Uint(c, 20, &w.Fence)
	fields.Uint(c, 21, &w.Life.Kind)
	fields.Text(c, 22, &w.Life.ID)
	fields.Uint(c, 23, &w.Behind)
	c.Flag(24, &w.Read)
	c.Flag(25, &w.ReplacesExpired)
}

func (c *Check) fields(to *fields.Codec) {
	fields.Text(to, 1, &c.Table)
	Item(to, 2, &c.Key)
	fields.Text(to, 3, &c.Condition)
	params(to, 4, &c.Params)
	to.End()
}

func (p *Progress) fields(c *fields.Codec) {
	fields.Uint(c, 40, &p.Sent)
	c.Flag(41, &p.Unsure)
	c.Time(42, &p.Since)
	Item(c, 43, &p.Was)
	fields.Text(c, 44, &p.From)
	c.Flag(45, &p.Late)
	c.Flag(46, &p.Closed)
	fields.Text(c, 47, &p.Label)
	c.Flag(48, &p.Moved)
	c.Flag(49, &p.Dead)
	c.Flag(50, &p.Proof)
	fields.Uint(c, 51, &p.Refused)
	c.Time(52, &p.Yields)
	c.Time(53, &p.NotBefore)
	fields.Text(c, 54, &p.Why)
	fields.Uint(c, 55, &p.Held)
}

func (r *Recovery) fields(c *fields.Codec) {
	c.Flag(70, &r.lost)
	c.Flag(71, &r.replay)
	c.Flag(72, &r.before)
	fields.Uint(c, 73, &r.again)
}

// Item is field n of a record, an item; nil is left out.
func Item(c *fields.Codec, n byte, it *attr.Item) {
	switch {
	case !c.Has(n, *it == nil):
	case c.Writing:
		at := len(c.B)
		c.B = attr.Encode(append(c.B, 0x80, 0x80, 0x80, 0), *it)
		size := len(c.B) - at - 4 // as a varint of four bytes: no item exceeds 256 MB
		for i := range 4 {
			c.B[at+i] |= byte(size>>(7*i)) & 0x7f
		}
	default:
		item, err := attr.Encoded(c.Bytes()).Decode()
		if *it = item; err != nil {
			c.Fail(err)
		}
	}
}

func params(c *fields.Codec, n byte, p *expr.Params) {
	switch {
	case !c.Has(n, len(p.Names) == 0 && len(p.Values) == 0):
	case c.Writing:
		c.B = expr.AppendParams(c.B, *p)
	default:
		read, err := expr.ReadParams(&c.Reader)
		if *p = read; err != nil {
			c.Fail(err)
		}
	}
}
