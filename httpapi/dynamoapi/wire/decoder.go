package wire

import (
	"math"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/jsonlex"
	"github.com/touchline/touchline/store/attr"
)

// maxDepth is how deep arrays and objects may nest outside of attribute values, which have a limit of their own. No request needs a
// tenth of it.
const maxDepth = 100

// maxMembers is the maximum number of elements and entries of a request's lists and maps together, except those with a limit of their own
// and those within attribute values. A list of empty objects takes hundreds of times the memory of its text.
const maxMembers = 100_000

// Decoder decodes one JSON text from start to end.
type Decoder struct {
	lex     jsonlex.Lexer
	depth   int
	members int // elements and entries read so far
	member  Member
}

// NewDecoder returns a decoder of a text.
func NewDecoder(text string) *Decoder { return &Decoder{lex: jsonlex.Lexer{Text: text}} }

// Opt is an optional member.
type Opt[T any] struct {
	V   T
	Set bool
}

// Given is a member with attribute values. Err is reported only after the other parts of the request were decoded.
type Given[T any] struct {
	V   T
	Set bool
	Err error // a ValidationException without a location
}

type (
	// Item is a map of attribute values.
	Item = Given[attr.Item]
	// Encoded is a map of attribute values in binary form.
	Encoded = Given[attr.Encoded]
	// Value is one attribute value.
	Value = Given[attr.Value]
)

// refusal is the panic value of a decoder, as in encoding/json: the first error ends decoding, however deep, and Root converts it to an
// error.
type refusal struct{ err error }

// Fail ends decoding with an error.
func (d *Decoder) Fail(err error) { panic(refusal{err}) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(refusal{err})
	}
	return v
}

func check(err error) {
	if err != nil {
		panic(refusal{err})
	}
}

// Root decodes the text as one object, which nothing may follow.
func (d *Decoder) Root(members func(m *Member)) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = r.err
		default:
			panic(r)
		}
	}()
	d.Object("", members)
	d.lex.Space()
	if d.lex.Pos != len(d.lex.Text) {
		d.Fail(d.lex.UnexpectedError("the end"))
	}
	return nil
}

// Object decodes an object of a shape in the API's model. members is called for each member that is not null.
func (d *Decoder) Object(shape string, members func(m *Member)) { d.object(shape, false, members) }

// Field is Object for an object that is a field of another one: errors name a value that is not an object differently there.
func (d *Decoder) Field(shape string, members func(m *Member)) { d.object(shape, true, members) }

func (d *Decoder) object(shape string, field bool, members func(m *Member)) {
	if !d.lex.SkipTo('{') {
		d.Fail(d.lex.NoStructure(shape, field))
	}
	outer := d.member
	d.decodeMembers(func(name string) {
		if d.null() {
			return
		}
		d.member = Member{Name: name, d: d}
		if members(&d.member); !d.member.read {
			d.Skip()
		}
	})
	d.member = outer
}

// Map decodes an object with arbitrary names and entries of a Java type. Repeated names and nulls are refused.
func (d *Decoder) Map(of string, entry func(key string)) {
	d.MapUpTo(math.MaxInt, of, func(key string) {
		d.count()
		entry(key)
	})
}

// MapUpTo is Map for up to most entries. It decodes one more, so that the caller notices and can refuse the excess, and skips the
// rest.
func (d *Decoder) MapUpTo(most int, of string, entry func(key string)) {
	if !d.lex.SkipTo('{') {
		d.Fail(d.lex.NoMap(of))
	}
	seen := map[string]bool{}
	d.decodeMembers(func(key string) {
		if len(seen) > most { // ignore names: remembering millions of them takes a second
			d.Skip()
			return
		}
		if seen[key] {
			d.Fail(jsonlex.MalformedError("The JSON has the name %q twice", key))
		}
		seen[key] = true
		entry(key)
	})
}

func (d *Decoder) count() {
	if d.members++; d.members > maxMembers {
		d.Fail(fault.New(fault.Invalid, "validation", "The lists and maps of the request have more than %d elements", maxMembers))
	}
}

// decodeMembers decodes the members of an opened object.
func (d *Decoder) decodeMembers(member func(name string)) {
	d.enter()
	for i := 0; must(d.lex.Next(i, '}')); i++ {
		name := must(d.lex.ReadString())
		check(d.lex.Expect(':'))
		member(name)
	}
	d.depth--
}

// Array decodes an array. elem is called to decode each element.
func (d *Decoder) Array(elem func(i int)) {
	d.ArrayUpTo(math.MaxInt, func(i int) {
		d.count()
		elem(i)
	})
}

// ArrayUpTo is Array for up to most elements, like MapUpTo.
func (d *Decoder) ArrayUpTo(most int, elem func(i int)) {
	if !d.lex.SkipTo('[') {
		d.Fail(d.lex.NoList())
	}
	d.enter()
	for i := 0; must(d.lex.Next(i, ']')); i++ {
		if i > most {
			d.Skip()
		} else {
			elem(i)
		}
	}
	d.depth--
}

func (d *Decoder) enter() {
	if d.depth++; d.depth > maxDepth {
		d.Fail(jsonlex.MalformedError("The JSON is nested too deep at byte %d", d.lex.Pos))
	}
}

// null consumes a null, if it is next.
func (d *Decoder) null() bool {
	d.lex.Space()
	if !strings.HasPrefix(d.lex.Text[d.lex.Pos:], "null") {
		return false
	}
	d.lex.Pos += len("null")
	return true
}

// Text decodes a string.
func (d *Decoder) Text(into *string) { *into = must(d.lex.ReadString()) }

func (d *Decoder) integer(kind string) int64 {
	text := d.number(kind)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(text, 64)                      // infinite if too large
		n = int64(max(math.MinInt64, min(math.MaxInt64-1024, f))) // the next float64 below the largest int64
	}
	return n
}

// number returns the text of a JSON number.
func (d *Decoder) number(kind string) string {
	d.lex.Space()
	rest := d.lex.Text[d.lex.Pos:]
	n := numberLen(rest)
	if n == 0 {
		d.Fail(d.lex.Mismatch(kind))
	}
	d.lex.Pos += n
	return rest[:n]
}

// numberLen returns the length of the JSON number at the start of a text; 0: none.
func numberLen(text string) int {
	i := 0
	digits := func() bool {
		start := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		return i > start
	}
	if strings.HasPrefix(text, "-") {
		i++
	}
	start := i
	if !digits() || text[start] == '0' && i > start+1 {
		return 0
	}
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return 0
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// Item decodes a map of attribute values.
func (d *Decoder) Item(into *Item) { into.V, into.Set, into.Err = readItem(d, attr.ReadJSON) }

func readItem[T any](d *Decoder, read func(text string, at int) (v T, behind int, err error)) (v T, set bool, err error) {
	start := d.brace(func() error { return d.lex.NoMap("com.amazonaws.dynamodb.v20120810.AttributeValue") })
	v, behind, err := read(d.lex.Text, start)
	d.goOn(start, behind, &err)
	return v, true, err
}

// Value decodes an attribute value.
func (d *Decoder) Value(into *Value) { d.value(into, false) }

// FieldValue is Value for a field, as Field is Object.
func (d *Decoder) FieldValue(into *Value) { d.value(into, true) }

func (d *Decoder) value(into *Value, field bool) {
	start := d.brace(func() error { return d.lex.NoStructure("AttributeValue", field) })
	into.Set = true
	var behind int
	into.V, behind, into.Err = attr.ReadValueJSON(d.lex.Text, start)
	d.goOn(start, behind, &into.Err)
}

// brace returns the position of the required opening brace.
func (d *Decoder) brace(mismatch func() error) (start int) {
	d.lex.Space()
	if !strings.HasPrefix(d.lex.Text[d.lex.Pos:], "{") {
		d.Fail(mismatch())
	}
	return d.lex.Pos
}

// goOn continues after a value. If the value was valid JSON, its error is kept for later.
func (d *Decoder) goOn(start, behind int, err *error) {
	if *err == nil {
		d.lex.Pos = behind
		return
	}
	if f, ok := (*err).(*fault.Error); !ok || f.Code != "validation" { //nolint:errorlint // attr returns unwrapped errors
		d.Fail(*err)
	}
	d.lex.Pos = start
	d.Skip()
}
