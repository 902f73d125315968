package attr

// AppendJSON appends an item as DynamoDB JSON, {"name":{"S":"x"}}, with names in ascending order. It allocates nothing besides dst.
func AppendJSON(dst []byte, it Item) []byte {
	var few [32]string
	dst = append(dst, '{')
	for i, name := range sortedNames(few[:0], it) {
		v := it[name]
		switch v.kind {
		case KindS:
			dst = appendEntry(dst, i, name, 'S', v.text)
		case KindN:
			dst = appendEntry(dst, i, name, 'N', v.text)
		default:
			dst = AppendValueJSON(appendName(dst, i, name), v)
		}
	}
	return append(dst, '}')
}

// appendName appends a name and a colon, preceded by a comma unless i is 0.
func appendName(dst []byte, i int, name string) []byte {
	if i > 0 {
		dst = append(dst, ',', '"')
	} else {
		dst = append(dst, '"')
	}
	dst = appendString(dst, name)
	return append(dst, '"', ':')
}

// appendEntry appends a name and its string or number. Nearly all attributes are one of these, so appendEntry writes everything in a row,
// without calls in between.
func appendEntry(dst []byte, i int, name string, letter byte, text string) []byte {
	if !allPlain(name) || letter == 'S' && !allPlain(text) {
		dst = append(appendName(dst, i, name), '{', '"', letter, '"', ':', '"')
		return append(appendString(dst, text), '"', '}')
	}
	if i > 0 {
		dst = append(dst, ',', '"')
	} else {
		dst = append(dst, '"')
	}
	dst = append(dst, name...)
	dst = append(dst, '"', ':', '{', '"', letter, '"', ':', '"')
	dst = append(dst, text...)
	return append(dst, '"', '}')
}

// AppendValueJSON appends one value as DynamoDB JSON, {"S":"x"}. An absent value is written as a null.
func AppendValueJSON(dst []byte, v Value) []byte {
	switch v.kind {
	case KindS:
		dst = appendString(append(dst, `{"S":"`...), v.text)
		return append(dst, `"}`...)
	case KindN:
		dst = appendDigits(append(dst, `{"N":"`...), v.text)
		return append(dst, `"}`...)
	case KindB:
		dst = appendBase64(append(dst, `{"B":"`...), v.text)
		return append(dst, `"}`...)
	case KindBool:
		return appendBoolJSON(dst, v.flag)
	case KindL:
		dst = append(dst, `{"L":[`...)
		for i, elem := range v.List() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValueJSON(dst, elem)
		}
		dst = append(dst, ']')
	case KindM:
		dst = AppendJSON(append(dst, `{"M":`...), v.Map())
	case KindSS:
		dst = appendSetJSON(append(dst, `{"SS":`...), v.set(), appendString)
	case KindNS:
		dst = appendSetJSON(append(dst, `{"NS":`...), v.set(), appendDigits)
	case KindBS:
		dst = appendSetJSON(append(dst, `{"BS":`...), v.set(), appendBase64)
	default:
		return append(dst, `{"NULL":true}`...)
	}
	return append(dst, '}')
}

func appendBoolJSON(dst []byte, truth bool) []byte {
	if truth {
		return append(dst, `{"BOOL":true}`...)
	}
	return append(dst, `{"BOOL":false}`...)
}

func appendSetJSON(dst []byte, set []string, member func([]byte, string) []byte) []byte {
	dst = append(dst, '[')
	for i, m := range set {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = member(dst, m)
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// MarshalJSON returns the value as DynamoDB JSON.
func (v Value) MarshalJSON() ([]byte, error) { return AppendValueJSON(nil, v), nil }

// String returns the value as DynamoDB JSON, for display.
func (v Value) String() string { return string(AppendValueJSON(nil, v)) }
