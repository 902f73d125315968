package attr

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/jsonlex"
)

// EncodeJSON appends to dst the binary form of an item in DynamoDB JSON. The result is that of ParseJSON and Encode, without building the
// item. It is strict: repeated names, anything after the item, text that is not UTF-8, invalid base64, unknown types and values with two
// types are errors of kind fault.Invalid. Their code is "serialization" if the JSON is at fault and "validation" if a value is. After an
// error it returns dst unchanged.
func EncodeJSON(dst, src []byte) ([]byte, error) {
	p := newJSONEncoder(append(dst, wireVersion), string(src))
	err := p.object(1)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return dst, err
	}
	return p.out, nil
}

// ParseJSON parses an item in DynamoDB JSON, as strictly as EncodeJSON. The item's strings share one allocation.
func ParseJSON(src []byte) (Item, error) {
	encoded, err := EncodeJSON(make([]byte, 0, len(src)), src)
	if err != nil {
		return nil, err
	}
	return decodeItem(Encoded(encoded).view())
}

// ReadJSON parses the item in DynamoDB JSON at offset at of a text, as strictly as EncodeJSON, and returns the offset behind it.
func ReadJSON(text string, at int) (it Item, behind int, err error) {
	e, behind, err := ReadEncodedJSON(text, at)
	if err != nil {
		return nil, 0, err
	}
	it, err = decodeItem(e.view())
	return it, behind, err
}

// ReadEncodedJSON is ReadJSON without building the item: it returns its binary form.
func ReadEncodedJSON(text string, at int) (e Encoded, behind int, err error) {
	p := newJSONEncoder(append(make([]byte, 0, 512), wireVersion), text)
	p.Pos = at
	if err := p.object(1); err != nil {
		return nil, 0, err
	}
	return p.out, p.Pos, nil
}

// ReadValueJSON is ReadJSON for a single value.
func ReadValueJSON(text string, at int) (v Value, behind int, err error) {
	p := newJSONEncoder(make([]byte, 0, 64), text)
	p.Pos = at
	if err := p.value(1); err != nil {
		return Value{}, 0, err
	}
	v, err = p.decodeOutput()
	return v, p.Pos, err
}

// ParseValueJSON parses a single value in DynamoDB JSON, as strictly as EncodeJSON.
func ParseValueJSON(src []byte) (Value, error) {
	p := newJSONEncoder(make([]byte, 0, len(src)), string(src))
	err := p.value(1)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return Value{}, err
	}
	return p.decodeOutput()
}

// decodeOutput returns the one value in the output.
func (p *jsonEncoder) decodeOutput() (Value, error) {
	s := scanner{buf: Encoded(p.out).view()}
	v, ok := s.value(1)
	if !ok || s.pos != len(s.buf) {
		return Value{}, damagedBytes("an attribute")
	}
	return v, nil
}

// UnmarshalJSON parses a value in DynamoDB JSON.
func (v *Value) UnmarshalJSON(src []byte) error {
	parsed, err := ParseValueJSON(src)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// jsonEncoder writes the binary form of its input while it reads it. It sorts the members of an object at the end of the object, unless
// they are in order already.
type jsonEncoder struct {
	jsonlex.Lexer
	out     []byte
	members []jsonMember // of the open objects, innermost last
	scratch []byte
}

// jsonMember is the position of an object's member in the output.
type jsonMember struct {
	name       string
	start, end int
}

func newJSONEncoder(out []byte, text string) *jsonEncoder {
	return &jsonEncoder{Lexer: jsonlex.Lexer{Text: text}, out: out}
}

func (p *jsonEncoder) end() error {
	p.Space()
	if p.Pos != len(p.Text) {
		return p.UnexpectedError("the end")
	}
	return nil
}

// object reads names and values; the values are at the given nesting level.
func (p *jsonEncoder) object(level int) error {
	if !p.SkipTo('{') {
		return p.NoMap("com.amazonaws.dynamodb.v20120810.AttributeValue")
	}
	if p.members == nil { // as many as the text may have, but no more than most items have
		p.members = make([]jsonMember, 0, min(24, 2+(len(p.Text)-p.Pos)/32))
	}
	first, count, ordered := len(p.members), p.openCount(), true
	for i := 0; ; i++ {
		if more, err := p.Next(i, '}'); err != nil {
			return err
		} else if !more {
			break
		}
		m, err := p.member(level)
		if err != nil {
			return err
		}
		ordered = ordered && (i == 0 || p.members[len(p.members)-1].name < m.name)
		p.members = append(p.members, m)
	}
	if !ordered {
		if err := p.order(p.members[first:]); err != nil {
			return err
		}
	}
	p.closeCount(count, len(p.members)-first)
	p.members = p.members[:first]
	return nil
}

func (p *jsonEncoder) member(level int) (m jsonMember, err error) {
	if m.name, err = p.ReadString(); err != nil {
		return m, err
	}
	if err := p.Expect(':'); err != nil {
		return m, err
	}
	m.start = len(p.out)
	p.out = appendText(p.out, m.name)
	err = p.value(level)
	m.end = len(p.out)
	return m, err
}

// order rewrites the members of an object, which are the end of the output, in the order of their names.
func (p *jsonEncoder) order(members []jsonMember) error {
	start := members[0].start
	p.scratch = append(p.scratch[:0], p.out[start:]...)
	p.out = p.out[:start]
	slices.SortStableFunc(members, func(a, b jsonMember) int { return strings.Compare(a.name, b.name) })
	for i, m := range members {
		if i > 0 && m.name == members[i-1].name {
			return jsonlex.MalformedError("The JSON has the name %q twice", m.name)
		}
		p.out = append(p.out, p.scratch[m.start-start:m.end-start]...)
	}
	return nil
}

// openCount reserves one byte for a count of elements: nearly all counts fit.
func (p *jsonEncoder) openCount() (at int) {
	p.out = append(p.out, 0)
	return len(p.out) - 1
}

// closeCount fills in a count.
func (p *jsonEncoder) closeCount(at, n int) {
	if n < 0x80 {
		p.out[at] = byte(n)
		return
	}
	p.out = slices.Replace(p.out, at, at+1, binary.AppendUvarint(nil, uint64(n))...)
}

// value reads {"type": content}.
func (p *jsonEncoder) value(level int) error {
	if level > maxLevel {
		return tooDeep()
	}
	if !p.SkipTo('{') {
		return p.NoStructure("AttributeValue", false)
	}
	if p.SkipTo('}') {
		return invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	if err := p.readTyped(level); err != nil {
		return err
	}
	if p.SkipTo(',') {
		if err := p.readTyped(level); err != nil { // a fault in the second value is reported before the fact that there are two
			return err
		}
		return invalid("Supplied AttributeValue has more than one datatypes set, " +
			"must contain exactly one of the supported datatypes")
	}
	return p.Expect('}')
}

// readTyped reads a type and its content, such as "S": "x".
func (p *jsonEncoder) readTyped(level int) error {
	kind, err := p.ReadString()
	if err != nil {
		return err
	}
	if err := p.Expect(':'); err != nil {
		return err
	}
	return p.content(kind, level)
}

func (p *jsonEncoder) content(kind string, level int) error {
	switch kind {
	case "S":
		text, err := p.ReadString()
		p.out = appendText(append(p.out, tagS), text)
		return err
	case "N":
		return p.number()
	case "B":
		data, err := p.base64()
		p.out = appendText(append(p.out, tagB), data)
		return err
	case "BOOL":
		truth, err := p.Bool()
		p.out = appendValue(p.out, Bool(truth))
		return err
	case "NULL":
		return p.null()
	case "L":
		return p.list(level + 1)
	case "M":
		out, start := openSized(p.out, tagM)
		p.out = out
		err := p.object(level + 1)
		p.out = closeSized(p.out, start)
		return err
	default:
		v, err := p.set(kind)
		if err == nil {
			p.out = appendValue(p.out, v)
		}
		return err
	}
}

func (p *jsonEncoder) number() error {
	text, err := p.ReadString()
	if err != nil {
		return err
	}
	n, err := N(text)
	p.out = appendText(append(p.out, tagN), n.text)
	return err
}

func (p *jsonEncoder) null() error {
	truth, err := p.Bool()
	if err == nil && !truth {
		err = invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
	}
	p.out = append(p.out, tagNull)
	return err
}

func (p *jsonEncoder) list(level int) error {
	if !p.SkipTo('[') {
		return p.NoList()
	}
	out, start := openSized(p.out, tagL)
	p.out = out
	count := p.openCount()
	for i := 0; ; i++ {
		if more, err := p.Next(i, ']'); err != nil {
			return err
		} else if !more {
			p.closeCount(count, i)
			p.out = closeSized(p.out, start)
			return nil
		}
		if err := p.value(level); err != nil {
			return err
		}
	}
}

func (p *jsonEncoder) base64() (string, error) {
	at := p.Pos
	text, err := p.ReadString()
	if err != nil {
		return "", err
	}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' { // the decoder would skip them
			return "", jsonlex.MalformedError("The base64 at byte %d of the JSON is not valid", at)
		}
	}
	data, err := strictBase64.DecodeString(text)
	if err != nil {
		return "", jsonlex.MalformedError("The base64 at byte %d of the JSON is not valid", at)
	}
	return string(data), nil
}

// strictBase64 refuses non-zero bits after the last byte: they would give a binary more than one text. It is never changed.
var strictBase64 = base64.StdEncoding.Strict()

// set reads a set of one of the three types.
func (p *jsonEncoder) set(kind string) (Value, error) {
	var members []string
	var err error
	switch kind {
	case "SS", "NS":
		members, err = p.texts(false)
	case "BS":
		members, err = p.texts(true)
	default:
		err = invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	if err != nil {
		return Value{}, err
	}
	switch kind {
	case "SS":
		return SS(members...)
	case "NS":
		return NS(members...)
	default:
		return binarySet(members)
	}
}

// texts reads an array of strings. If binary is set, they are base64, and it returns their data.
func (p *jsonEncoder) texts(binary bool) ([]string, error) {
	if !p.SkipTo('[') {
		return nil, p.NoList()
	}
	var members []string
	for i := 0; ; i++ {
		if more, err := p.Next(i, ']'); err != nil || !more {
			return members, err
		}
		m, err := p.oneText(binary)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
}

func (p *jsonEncoder) oneText(binary bool) (string, error) {
	if binary {
		return p.base64()
	}
	return p.ReadString()
}
