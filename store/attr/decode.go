package attr

// Decode decodes an item. Its strings share one copy of the encoding, so none of them refers to e. Bytes that Encode does not write are
// fault.Damaged.
func (e Encoded) Decode() (Item, error) { return decodeItem(string(e)) }

// decodeItem decodes an item from a string that the item may refer to.
func decodeItem(text string) (Item, error) {
	if text == "" || text[0] != wireVersion {
		return nil, damagedBytes("an item")
	}
	s := scanner{buf: text, pos: 1}
	it, ok := s.item(1)
	if !ok || s.pos != len(s.buf) {
		return nil, damagedBytes("an item")
	}
	return it, nil
}

// item reads the body of a map whose values are at the given nesting level.
func (s *scanner) item(level int) (Item, bool) {
	const least = 2 // an empty name and a tag
	n, ok := s.count(least)
	if !ok {
		return nil, false
	}
	it := make(Item, n)
	last := ""
	for i := range n {
		name, ok := s.text()
		if !ok || i > 0 && name <= last {
			return nil, false
		}
		last = name
		v, ok := s.value(level)
		if !ok {
			return nil, false
		}
		it[name] = v
	}
	return it, true
}

// value reads one value at the given nesting level.
func (s *scanner) value(level int) (Value, bool) {
	if level > maxLevel {
		return Value{}, false
	}
	tag := s.tag()
	switch tag {
	case tagS:
		text, ok := s.text()
		return Value{kind: KindS, text: text}, ok
	case tagN:
		text, ok := s.text()
		return Value{kind: KindN, text: text}, ok && isCanonical(text)
	case tagB:
		text, ok := s.text()
		return Value{kind: KindB, text: text}, ok
	case tagFalse, tagTrue:
		return Bool(tag == tagTrue), true
	case tagNull:
		return Null(), true
	default:
		return s.collection(tag, level)
	}
}

// collection reads a value that holds others. Its size must match its elements.
func (s *scanner) collection(tag byte, level int) (Value, bool) {
	end, ok := s.size()
	if !ok {
		return Value{}, false
	}
	var v Value
	switch tag {
	case tagL:
		v.kind = KindL
		v.many, ok = s.list(level + 1)
	case tagM:
		v.kind = KindM
		v.many, ok = s.item(level + 1)
	case tagSS:
		v.kind = KindSS
		v.many, ok = s.members(tag)
	case tagNS:
		v.kind = KindNS
		v.many, ok = s.members(tag)
	case tagBS:
		v.kind = KindBS
		v.many, ok = s.members(tag)
	default:
		return Value{}, false
	}
	return v, ok && s.pos == end
}

func (s *scanner) list(level int) ([]Value, bool) {
	n, ok := s.count(1)
	if !ok {
		return nil, false
	}
	list := make([]Value, n)
	for i := range list {
		if list[i], ok = s.value(level); !ok {
			return nil, false
		}
	}
	return list, true
}

// members reads a set, which is never empty and strictly ascending.
func (s *scanner) members(tag byte) ([]string, bool) {
	n, ok := s.count(1)
	if !ok || n == 0 {
		return nil, false
	}
	set := make([]string, n)
	for i := range set {
		if set[i], ok = s.text(); !ok {
			return nil, false
		}
		if tag == tagNS && !isCanonical(set[i]) || i > 0 && !ascending(tag, set[i-1], set[i]) {
			return nil, false
		}
	}
	return set, true
}

func ascending(tag byte, a, b string) bool {
	if tag == tagNS {
		return compareNumbers(a, b) < 0
	}
	return a < b
}
