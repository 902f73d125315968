package attr

// AppendJSON appends an item as DynamoDB JSON, {"name":{"S":"x"}}, names in ascending order. It takes no memory
// beside dst.
func AppendJSON(dst []byte, it Item) []byte {
	var few [32]string
	dst = append(dst, '{')
	for i, name := range sortedNames(few[:0], it) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, name)
		dst = append(dst, ':')
		dst = AppendValueJSON(dst, it[name])
	}
	return append(dst, '}')
}

// AppendValueJSON appends one value as DynamoDB JSON, {"S":"x"}. An absent value becomes a null.
func AppendValueJSON(dst []byte, v Value) []byte {
	switch v.kind {
	case KindS:
		dst = appendQuoted(append(dst, `{"S":`...), v.text)
	case KindN:
		dst = appendDigits(append(dst, `{"N":`...), v.text)
	case KindB:
		dst = appendBase64(append(dst, `{"B":`...), v.text)
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
		dst = appendSetJSON(append(dst, `{"SS":`...), v.set(), appendQuoted)
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
		dst = member(dst, m)
	}
	return append(dst, ']')
}

// MarshalJSON gives the value as DynamoDB JSON.
func (v Value) MarshalJSON() ([]byte, error) { return AppendValueJSON(nil, v), nil }

// String gives the value as DynamoDB JSON, for people.
func (v Value) String() string { return string(AppendValueJSON(nil, v)) }
