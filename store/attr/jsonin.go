package attr

import "encoding/base64"

// ParseJSON reads an item in DynamoDB JSON. It is strict: a name given twice, anything behind the item, text that is
// not UTF-8, base64 that is not, a type that is unknown or not alone are errors of kind fault.Invalid, with code
// "serialization" where the JSON is at fault and "validation" where a value is. The item shares one copy of src.
func ParseJSON(src []byte) (Item, error) {
	p := jsonParser{lexer{text: string(src)}}
	it, err := p.item(1)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, err
	}
	return it, nil
}

// ParseValueJSON reads one value in DynamoDB JSON, as strictly as ParseJSON.
func ParseValueJSON(src []byte) (Value, error) {
	p := jsonParser{lexer{text: string(src)}}
	v, err := p.value(1)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// UnmarshalJSON reads a value in DynamoDB JSON.
func (v *Value) UnmarshalJSON(src []byte) error {
	parsed, err := ParseValueJSON(src)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// jsonParser builds values of tokens. The elements of a list or map are gathered on the goroutine's stack, where most
// fit, so that the list or map is made once, in its size.
type jsonParser struct {
	lexer
}

type member struct {
	name  string
	value Value
}

func (p *jsonParser) end() error {
	p.space()
	if p.pos != len(p.text) {
		return p.unexpected("the end")
	}
	return nil
}

// item reads an object of names and values that are at the given level of nesting.
func (p *jsonParser) item(level int) (Item, error) {
	if err := p.expect('{'); err != nil {
		return nil, err
	}
	var few [20]member
	members := few[:0]
	for i := 0; ; i++ {
		if more, err := p.next(i, '}'); err != nil {
			return nil, err
		} else if !more {
			return collect(members)
		}
		name, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if err := p.expect(':'); err != nil {
			return nil, err
		}
		v, err := p.value(level)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name, v})
	}
}

// collect makes a map of its members.
func collect(members []member) (Item, error) {
	it := make(Item, len(members))
	for i, m := range members {
		it[m.name] = m.value
		if len(it) <= i {
			return nil, malformed("The JSON has the name %q twice", m.name)
		}
	}
	return it, nil
}

// value reads {"type": content}.
func (p *jsonParser) value(level int) (Value, error) {
	if level > maxLevel {
		return Value{}, tooDeep()
	}
	if err := p.expect('{'); err != nil {
		return Value{}, err
	}
	if p.take('}') {
		return Value{}, invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	kind, err := p.quoted()
	if err != nil {
		return Value{}, err
	}
	if err := p.expect(':'); err != nil {
		return Value{}, err
	}
	v, err := p.content(kind, level)
	if err != nil {
		return Value{}, err
	}
	if p.take(',') {
		return Value{}, invalid("Supplied AttributeValue has more than one datatypes set, " +
			"must contain exactly one of the supported datatypes")
	}
	return v, p.expect('}')
}

func (p *jsonParser) content(kind string, level int) (Value, error) {
	switch kind {
	case "S":
		text, err := p.quoted()
		return Value{kind: KindS, text: text}, err
	case "N":
		text, err := p.quoted()
		if err != nil {
			return Value{}, err
		}
		return N(text)
	case "B":
		data, err := p.base64()
		return Value{kind: KindB, text: data}, err
	case "BOOL":
		truth, err := p.boolean()
		return Bool(truth), err
	case "NULL":
		return p.null()
	case "L":
		return p.list(level + 1)
	case "M":
		it, err := p.item(level + 1)
		return Value{kind: KindM, many: it}, err
	default:
		return p.set(kind)
	}
}

func (p *jsonParser) null() (Value, error) {
	truth, err := p.boolean()
	if err == nil && !truth {
		err = invalid("One or more parameter values were invalid: Null attribute value types must have the value of true")
	}
	return Null(), err
}

func (p *jsonParser) base64() (string, error) {
	at := p.pos
	text, err := p.quoted()
	if err != nil {
		return "", err
	}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' { // the decoder would pass over them
			return "", malformed("The base64 at byte %d of the JSON is not valid", at)
		}
	}
	data, err := strictBase64.DecodeString(text)
	if err != nil {
		return "", malformed("The base64 at byte %d of the JSON is not valid", at)
	}
	return string(data), nil
}

// strictBase64 refuses bits behind the last byte, which would give a binary a second text. It is never changed.
var strictBase64 = base64.StdEncoding.Strict()

func (p *jsonParser) list(level int) (Value, error) {
	if err := p.expect('['); err != nil {
		return Value{}, err
	}
	var few [8]Value
	elems := few[:0]
	for i := 0; ; i++ {
		if more, err := p.next(i, ']'); err != nil {
			return Value{}, err
		} else if !more {
			break
		}
		v, err := p.value(level)
		if err != nil {
			return Value{}, err
		}
		elems = append(elems, v)
	}
	list := make([]Value, len(elems))
	copy(list, elems)
	return L(list...), nil
}

// set reads a set of one of the three types.
func (p *jsonParser) set(kind string) (Value, error) {
	var members []string
	var err error
	switch kind {
	case "SS", "NS":
		members, err = p.texts(false)
	case "BS":
		members, err = p.texts(true)
	default:
		err = malformed("Unknown type %q at byte %d of the JSON", kind, p.pos)
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

// texts reads an array of strings, of base64 ones their data.
func (p *jsonParser) texts(binary bool) ([]string, error) {
	if err := p.expect('['); err != nil {
		return nil, err
	}
	var members []string
	for i := 0; ; i++ {
		if more, err := p.next(i, ']'); err != nil || !more {
			return members, err
		}
		m, err := p.oneText(binary)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
}

func (p *jsonParser) oneText(binary bool) (string, error) {
	if binary {
		return p.base64()
	}
	return p.quoted()
}
