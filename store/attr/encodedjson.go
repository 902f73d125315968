package attr

// AppendJSON appends the item as DynamoDB JSON without decoding it: the same bytes that the function AppendJSON appends for the decoded
// item, with no allocation besides dst. After an error it returns dst unchanged.
func (e Encoded) AppendJSON(dst []byte) ([]byte, error) {
	s, n, ok := e.scan()
	if !ok {
		return dst, damagedBytes("an item")
	}
	out, ok := s.appendItemJSON(dst, n, 1)
	if !ok || s.pos != len(s.buf) {
		return dst, damagedBytes("an item")
	}
	return out, nil
}

func (s *scanner) appendItemJSON(dst []byte, n, level int) ([]byte, bool) {
	if level > maxLevel && n > 0 {
		return dst, false
	}
	dst = append(dst, '{')
	for i := range n {
		name, ok := s.text()
		if !ok {
			return dst, false
		}
		switch s.peek() {
		case tagS:
			dst, ok = s.appendEntryJSON(dst, i, name, 'S')
		case tagN:
			dst, ok = s.appendEntryJSON(dst, i, name, 'N')
		default:
			dst, ok = s.appendValueJSON(appendName(dst, i, name), level)
		}
		if !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// appendEntryJSON appends a name and the string or number that follows.
func (s *scanner) appendEntryJSON(dst []byte, i int, name string, letter byte) ([]byte, bool) {
	s.pos++
	text, ok := s.text()
	if letter == 'N' && !isCanonical(text) {
		return dst, false
	}
	return appendEntry(dst, i, name, letter, text), ok
}

func (s *scanner) appendValueJSON(dst []byte, level int) ([]byte, bool) {
	if level > maxLevel {
		return dst, false
	}
	tag := s.tag()
	switch tag {
	case tagS, tagN, tagB:
		text, ok := s.text()
		if !ok {
			return dst, false
		}
		return appendScalarJSON(dst, tag, text)
	case tagTrue, tagFalse:
		return appendBoolJSON(dst, tag == tagTrue), true
	case tagNull:
		return append(dst, `{"NULL":true}`...), true
	case tagL, tagM, tagSS, tagNS, tagBS:
		end, ok := s.size()
		if !ok {
			return dst, false
		}
		dst, ok = s.appendCollectionJSON(dst, tag, level)
		return dst, ok && s.pos == end
	default:
		return dst, false
	}
}

func appendScalarJSON(dst []byte, tag byte, text string) ([]byte, bool) {
	ok := true
	switch tag {
	case tagS:
		dst = appendString(append(dst, `{"S":"`...), text)
	case tagN:
		ok = isCanonical(text)
		dst = append(append(dst, `{"N":"`...), text...)
	default:
		dst = appendBase64(append(dst, `{"B":"`...), text)
	}
	return append(dst, `"}`...), ok
}

func (s *scanner) appendCollectionJSON(dst []byte, tag byte, level int) ([]byte, bool) {
	n, ok := s.count(1)
	if !ok {
		return dst, false
	}
	switch tag {
	case tagL:
		dst, ok = s.appendListJSON(append(dst, `{"L":`...), n, level+1)
	case tagM:
		dst, ok = s.appendItemJSON(append(dst, `{"M":`...), n, level+1)
	case tagSS:
		dst, ok = s.appendMembersJSON(append(dst, `{"SS":`...), n, appendString)
	case tagNS:
		dst, ok = s.appendMembersJSON(append(dst, `{"NS":`...), n, appendDigits)
	default:
		dst, ok = s.appendMembersJSON(append(dst, `{"BS":`...), n, appendBase64)
	}
	return append(dst, '}'), ok
}

func (s *scanner) appendListJSON(dst []byte, n, level int) ([]byte, bool) {
	dst = append(dst, '[')
	ok := true
	for i := 0; i < n && ok; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, ok = s.appendValueJSON(dst, level)
	}
	return append(dst, ']'), ok
}

func (s *scanner) appendMembersJSON(dst []byte, n int, member func([]byte, string) []byte) ([]byte, bool) {
	dst = append(dst, '[')
	for i := range n {
		text, ok := s.text()
		if !ok {
			return dst, false
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = member(dst, text)
		dst = append(dst, '"')
	}
	return append(dst, ']'), true
}
