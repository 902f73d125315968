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

// NewDecoder makes a decoder of a text.
func NewDecoder(text string) *Decoder { return &Decoder{lex: jsonlex.Lexer{Text: text}} }

// Opt is a member that may be absent.
type Opt[T any] struct {
	V   T
	Set bool
}

// Item is a map of attribute values as it was given. What is wrong with one of its values is an error that is due only
// when the request's other parts have been read.
type Item struct {
	V   attr.Item
	Set bool
	Err error // a ValidationException without a place
}

// Value is one attribute value as it was given.
type Value struct {
	V   attr.Value
	Set bool
	Err error
}

// Root reads the text as one object, and that nothing follows it.
func (d *Decoder) Root(members func(m *Member)) error {
	if err := d.Object("", members); err != nil {
		return err
	}
	d.lex.Space()
	if d.lex.Pos != len(d.lex.Text) {
		return d.lex.Unexpected("the end")
	}
	return nil
}

// Object reads an object of the API's shape of that name. members is called for each member that is not null.
func (d *Decoder) Object(shape string, members func(m *Member)) error {
	return d.object(shape, false, members)
}

// Field is Object where the object is a field of another one's shape: what is no object has another name there.
func (d *Decoder) Field(shape string, members func(m *Member)) error {
	return d.object(shape, true, members)
}

func (d *Decoder) object(shape string, field bool, members func(m *Member)) error {
	outer := d.member
	err := d.named(func() error { return d.lex.NoStructure(shape, field) }, func(name string) error {
		if d.null() {
			return nil
		}
		d.member = Member{Name: name, d: d}
		if members(&d.member); !d.member.read {
			return d.Skip()
		}
		return d.member.err
	})
	d.member = outer
	return err
}

// Map reads an object whose names are the user's, and whose entries are of that Java type. A name that is there twice is
// refused, and so is a null.
func (d *Decoder) Map(of string, entry func(key string) error) error {
	return d.entries(math.MaxInt, of, func(key string) error {
		if err := d.count(); err != nil {
			return err
		}
		return entry(key)
	})
}

// MapUpTo is Map where more than most entries are refused later. It reads one more than that, so that whoever counts them
// sees that they are too many, and steps over the others.
func (d *Decoder) MapUpTo(most int, of string, entry func(key string) error) error {
	return d.entries(most, of, entry)
}

func (d *Decoder) entries(most int, of string, entry func(key string) error) error {
	seen := map[string]bool{}
	return d.named(func() error { return d.lex.NoMap(of) }, func(key string) error {
		if len(seen) > most { // the names are not looked at: to remember millions of them takes a second
			return d.Skip()
		}
		if seen[key] {
			return jsonlex.Malformed("The JSON has the name %q twice", key)
		}
		seen[key] = true
		return entry(key)
	})
}

func (d *Decoder) count() error {
	if d.members++; d.members > maxMembers {
		return fault.New(fault.Invalid, "validation", "The lists and maps of the request have more than %d elements", maxMembers)
	}
	return nil
}

func (d *Decoder) named(mismatch func() error, member func(name string) error) error {
	if !d.lex.Take('{') {
		return mismatch()
	}
	if err := d.enter(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if more, err := d.lex.Next(i, '}'); err != nil {
			return err
		} else if !more {
			d.depth--
			return nil
		}
		name, err := d.lex.Quoted()
		if err == nil {
			err = d.lex.Expect(':')
		}
		if err == nil {
			err = member(name)
		}
		if err != nil {
			return err
		}
	}
}

// Array reads an array. elem is called for each element and reads it.
func (d *Decoder) Array(elem func(i int) error) error {
	return d.elements(func(i int) error {
		if err := d.count(); err != nil {
			return err
		}
		return elem(i)
	})
}

// ArrayUpTo is Array where more than most elements are refused later, as MapUpTo is Map.
func (d *Decoder) ArrayUpTo(most int, elem func(i int) error) error {
	return d.elements(func(i int) error {
		if i > most {
			return d.Skip()
		}
		return elem(i)
	})
}

func (d *Decoder) elements(elem func(i int) error) error {
	if !d.lex.Take('[') {
		return d.lex.NoList()
	}
	if err := d.enter(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if more, err := d.lex.Next(i, ']'); err != nil {
			return err
		} else if !more {
			d.depth--
			return nil
		}
		if err := elem(i); err != nil {
			return err
		}
	}
}

func (d *Decoder) enter() error {
	if d.depth++; d.depth > maxDepth {
		return jsonlex.Malformed("The JSON is nested too deep at byte %d", d.lex.Pos)
	}
	return nil
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
func (d *Decoder) Text(into *string) (err error) {
	*into, err = d.lex.Quoted()
	return err
}

func (d *Decoder) integer(kind string, into *Opt[int64]) error {
	text, err := d.number(kind)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(text, 64)                      // of a number that is too large, infinite
		n = int64(max(math.MinInt64, min(math.MaxInt64-1024, f))) // the next float64 below the largest int64
	}
	*into = Opt[int64]{V: n, Set: true}
	return nil
}

func (d *Decoder) float() (float64, error) {
	text, err := d.number("Double")
	f, _ := strconv.ParseFloat(text, 64) // of a number that is too large, infinite
	return f, err
}

// number reads the text of a JSON number.
func (d *Decoder) number(kind string) (string, error) {
	d.lex.Space()
	rest := d.lex.Text[d.lex.Pos:]
	n := numberLen(rest)
	if n == 0 {
		return "", d.lex.Mismatch(kind)
	}
	d.lex.Pos += n
	return rest[:n], nil
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
func (d *Decoder) Item(into *Item) error {
	d.lex.Space()
	if !strings.HasPrefix(d.lex.Text[d.lex.Pos:], "{") {
		return d.lex.NoMap("com.amazonaws.dynamodb.v20120810.AttributeValue")
	}
	into.Set = true
	start := d.lex.Pos
	var behind int
	into.V, behind, into.Err = attr.ReadJSON(d.lex.Text, start)
	return d.read(start, behind, &into.Err)
}

// Value reads one attribute value.
func (d *Decoder) Value(into *Value) error { return d.value(into, false) }

// FieldValue is Value where it is a field, as Field is Object.
func (d *Decoder) FieldValue(into *Value) error { return d.value(into, true) }

func (d *Decoder) value(into *Value, field bool) error {
	d.lex.Space()
	if !strings.HasPrefix(d.lex.Text[d.lex.Pos:], "{") {
		return d.lex.NoStructure("AttributeValue", field)
	}
	into.Set = true
	start := d.lex.Pos
	var behind int
	into.V, behind, into.Err = attr.ReadValueJSON(d.lex.Text, start)
	return d.read(start, behind, &into.Err)
}

// read goes on behind a value. If that was in order as JSON, what is wrong with it stays for later.
func (d *Decoder) read(start, behind int, err *error) error {
	if *err == nil {
		d.lex.Pos = behind
		return nil
	}
	if f, ok := asFault(*err); !ok || f.Code != "validation" {
		return *err
	}
	d.lex.Pos = start
	return d.Skip()
}

func asFault(err error) (*fault.Error, bool) {
	f, ok := err.(*fault.Error) //nolint:errorlint // attr gives its own errors, not wrapped ones
	return f, ok
}
