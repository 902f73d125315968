package wire

import (
	"math"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/jsonlex"
	"github.com/touchline/touchline/store/attr"
)

// maxDepth is how deep arrays and objects may lie in each other where attribute values are not read: values have a limit
// of their own, and no request needs a tenth of it.
const maxDepth = 100

// maxMembers is how many elements and entries all lists and maps of a request may have together, but for those within
// attribute values. What a request can hold is bounded by its size alone otherwise, and a list of empty objects would take
// hundreds of times the memory of its text.
const maxMembers = 100_000

// Decoder reads one JSON text from its beginning to its end.
type Decoder struct {
	lex     jsonlex.Lexer
	depth   int
	members int // elements and entries that were read
	member  Member
}

// NewDecoder creates a decoder of a text.
func NewDecoder(text string) *Decoder { return &Decoder{lex: jsonlex.Lexer{Text: text}} }

// Opt is a member that may be absent.
type Opt[T any] struct {
	V   T
	Set bool
}

// Given is what was given of attribute values. What is wrong with one of them is an error that is due only when the request's
// other parts have been read.
type Given[T any] struct {
	V   T
	Set bool
	Err error // a ValidationException without a place
}

type (
	// Item is a map of attribute values.
	Item = Given[attr.Item]
	// Encoded is a map of attribute values in its binary form.
	Encoded = Given[attr.Encoded]
	// Value is one attribute value.
	Value = Given[attr.Value]
)

// refusal is what a decoder panics with, as that of encoding/json does: the first fault ends the reading, however deep it
// is, and Root makes an error of it.
type refusal struct{ err error }

// Fail ends the reading with an error.
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

// Root reads the text as one object, and that nothing follows it.
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
		d.Fail(d.lex.Unexpected("the end"))
	}
	return nil
}

// Object reads an object of the API's shape of that name. members is called for each member that is not null.
func (d *Decoder) Object(shape string, members func(m *Member)) { d.object(shape, false, members) }

// Field is Object where the object is a field of another one's shape: what is no object has another name there.
func (d *Decoder) Field(shape string, members func(m *Member)) { d.object(shape, true, members) }

func (d *Decoder) object(shape string, field bool, members func(m *Member)) {
	if !d.lex.Take('{') {
		d.Fail(d.lex.NoStructure(shape, field))
	}
	outer := d.member
	d.named(func(name string) {
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

// Map reads an object whose names are the user's, and whose entries are of that Java type. A name that is there twice is
// refused, and so is a null.
func (d *Decoder) Map(of string, entry func(key string)) {
	d.MapUpTo(math.MaxInt, of, func(key string) {
		d.count()
		entry(key)
	})
}

// MapUpTo is Map where more than most entries are refused later. It reads one more than that, so that whoever counts them
// sees that they are too many, and steps over the others.
func (d *Decoder) MapUpTo(most int, of string, entry func(key string)) {
	if !d.lex.Take('{') {
		d.Fail(d.lex.NoMap(of))
	}
	seen := map[string]bool{}
	d.named(func(key string) {
		if len(seen) > most { // the names are not looked at: to remember millions of them takes a second
			d.Skip()
			return
		}
		if seen[key] {
			d.Fail(jsonlex.Malformed("The JSON has the name %q twice", key))
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

// named reads the members of an object that is open.
func (d *Decoder) named(member func(name string)) {
	d.enter()
	for i := 0; must(d.lex.Next(i, '}')); i++ {
		name := must(d.lex.Quoted())
		check(d.lex.Expect(':'))
		member(name)
	}
	d.depth--
}

// Array reads an array. elem is called for each element and reads it.
func (d *Decoder) Array(elem func(i int)) {
	d.ArrayUpTo(math.MaxInt, func(i int) {
		d.count()
		elem(i)
	})
}

// ArrayUpTo is Array where more than most elements are refused later, as MapUpTo is Map.
func (d *Decoder) ArrayUpTo(most int, elem func(i int)) {
	if !d.lex.Take('[') {
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
		d.Fail(jsonlex.Malformed("The JSON is nested too deep at byte %d", d.lex.Pos))
	}
}

// null steps over a null, if one stands here.
func (d *Decoder) null() bool {
	d.lex.Space()
	if !strings.HasPrefix(d.lex.Text[d.lex.Pos:], "null") {
		return false
	}
	d.lex.Pos += len("null")
	return true
}

// Text reads a string.
func (d *Decoder) Text(into *string) { *into = must(d.lex.Quoted()) }

func (d *Decoder) integer(kind string) int64 {
	text := d.number(kind)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(text, 64)                      // of a number that is too large, infinite
		n = int64(max(math.MinInt64, min(math.MaxInt64-1024, f))) // the next float64 below the largest int64
	}
	return n
}

// number reads the text of a JSON number.
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

// numberLen returns how many bytes the JSON number takes with which a text begins; 0: none.
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

// Item reads a map of attribute values.
func (d *Decoder) Item(into *Item) { into.V, into.Set, into.Err = readItem(d, attr.ReadJSON) }

func readItem[T any](d *Decoder, read func(text string, at int) (v T, behind int, err error)) (v T, set bool, err error) {
	start := d.brace(func() error { return d.lex.NoMap("com.amazonaws.dynamodb.v20120810.AttributeValue") })
	v, behind, err := read(d.lex.Text, start)
	d.goOn(start, behind, &err)
	return v, true, err
}

// Value reads one attribute value.
func (d *Decoder) Value(into *Value) { d.value(into, false) }

// FieldValue is Value where it is a field, as Field is Object.
func (d *Decoder) FieldValue(into *Value) { d.value(into, true) }

func (d *Decoder) value(into *Value, field bool) {
	start := d.brace(func() error { return d.lex.NoStructure("AttributeValue", field) })
	into.Set = true
	var behind int
	into.V, behind, into.Err = attr.ReadValueJSON(d.lex.Text, start)
	d.goOn(start, behind, &into.Err)
}

// brace returns where the object begins that must stand here.
func (d *Decoder) brace(mismatch func() error) (start int) {
	d.lex.Space()
	if !strings.HasPrefix(d.lex.Text[d.lex.Pos:], "{") {
		d.Fail(mismatch())
	}
	return d.lex.Pos
}

// goOn goes on behind a value. If that was in order as JSON, what is wrong with it stays for later.
func (d *Decoder) goOn(start, behind int, err *error) {
	if *err == nil {
		d.lex.Pos = behind
		return
	}
	if f, ok := (*err).(*fault.Error); !ok || f.Code != "validation" { //nolint:errorlint // attr gives its own errors, not wrapped ones
		d.Fail(*err)
	}
	d.lex.Pos = start
	d.Skip()
}
