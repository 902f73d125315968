package attr

import "strings"

// MaxItemSize is DynamoDB's limit for an item, names and values together, in bytes as Size counts them.
const MaxItemSize = 409600

// maxLevel is DynamoDB's nesting limit: an attribute's own value is at level 1, the elements of a list in it are at level 2. A value at
// level 33 is refused.
const maxLevel = 32

// emptyCollection is the size of an empty list or map. Each element adds its own size and 1.
const emptyCollection = 3

// Size returns the size of an item as DynamoDB counts it (Developer Guide, "DynamoDB item sizes and formats"): the bytes of names,
// strings (UTF-8) and binaries; for a number about one byte for two significant digits; 1 for BOOL and NULL; 3 for a list or map and 1
// for each element. {"id": "a1", "runs": 42} is 2+2 + 4+2 bytes. DynamoDB adds 100 bytes per item for billing, not for the limit.
func Size(it Item) int {
	size := 0
	for name, v := range it {
		size += len(name) + SizeOf(v)
	}
	return size
}

// SizeOf returns the size of a value as Size counts it. It differs from the expression function size(), which counts elements and
// characters.
func SizeOf(v Value) int {
	switch v.kind {
	case KindS, KindB:
		return len(v.text)
	case KindN:
		return sizeNumber(v.text)
	case KindL:
		size := emptyCollection
		for _, elem := range v.List() {
			size += 1 + SizeOf(elem)
		}
		return size
	case KindM:
		it := v.Map()
		return emptyCollection + len(it) + Size(it)
	case KindSS, KindBS, KindNS:
		size := 0
		for _, member := range v.set() {
			if v.kind == KindNS {
				size += sizeNumber(member)
			} else {
				size += len(member)
			}
		}
		return size
	default:
		return 1
	}
}

// Weight returns the number of values in a value (itself, all values and members in it, those of a map counted four times) and the bytes
// of their texts and names. It measures the work of decoding, copying or comparing it.
func Weight(v Value) (values, bytes int) {
	values, bytes = 1, len(v.text)
	switch v.kind {
	case KindL:
		for _, elem := range v.List() {
			n, size := Weight(elem)
			values, bytes = values+n, bytes+size
		}
	case KindM:
		for name, elem := range v.Map() {
			n, size := Weight(elem)
			values, bytes = values+n+3, bytes+size+len(name)
		}
	case KindSS, KindNS, KindBS:
		values += len(v.set())
		for _, member := range v.set() {
			bytes += len(member)
		}
	}
	return values, bytes
}

// sizeNumber returns the size of a canonical number: one byte, the significant digits before the point and those after it, two to a byte
// and each rounded up, and one byte for a minus sign. Leading and trailing zeros of the number are not significant: 1200 counts two digits.
func sizeNumber(text string) int {
	size := 1
	if text[0] == '-' {
		text = text[1:]
		size++
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	if whole == "0" {
		whole = ""
		fraction = strings.TrimLeft(fraction, "0")
	}
	return size + (len(whole)+1)/2 + (len(fraction)+1)/2
}

// Check refuses an item that is larger than MaxItemSize, nested below level 32, or has an absent value or an invalid name.
func Check(it Item) error {
	size, err := Measure(it)
	if err == nil && size > MaxItemSize {
		err = TooLarge()
	}
	return err
}

// TooLarge returns the error of an item larger than MaxItemSize.
func TooLarge() error { return invalid("Item size has exceeded the maximum allowed size") }

// Measure is Size and Check, except the size limit, in one walk over the item.
func Measure(it Item) (size int, err error) { return measureItem(it, 1) }

// Measure is the function Measure for an encoded item. It decodes only lists, maps and sets.
func (e Encoded) Measure() (size int, err error) {
	s, n, ok := e.scan()
	if !ok {
		return 0, damagedBytes("an item")
	}
	for range n {
		name, ok := s.text()
		if !ok {
			return 0, damagedBytes("an item")
		}
		if err := checkName(name); err != nil {
			return 0, err
		}
		value, err := s.measure()
		if err != nil {
			return 0, err
		}
		size += len(name) + value
	}
	if s.pos != len(s.buf) {
		return 0, damagedBytes("an item")
	}
	return size, nil
}

// measure returns the size of an attribute's value and skips it.
func (s *scanner) measure() (int, error) {
	switch tag := s.peek(); tag {
	case tagS, tagB, tagN:
		s.pos++
		text, ok := s.text()
		switch {
		case !ok, tag == tagN && !isCanonical(text):
			return 0, damagedBytes("an item")
		case tag == tagN:
			return sizeNumber(text), nil
		}
		return len(text), nil
	}
	v, ok := s.value(1)
	if !ok {
		return 0, damagedBytes("an item")
	}
	return measure(v, 1)
}

func measureItem(it Item, level int) (size int, err error) {
	for name, v := range it {
		if err := checkName(name); err != nil {
			return 0, err
		}
		n, err := measure(v, level)
		if err != nil {
			return 0, err
		}
		size += len(name) + n
	}
	return size, nil
}

// measure returns the size of a value at a nesting level.
func measure(v Value, level int) (size int, err error) {
	if level > maxLevel {
		return 0, tooDeep()
	}
	switch v.kind {
	case 0:
		return 0, invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	case KindM:
		it := v.Map()
		size, err = measureItem(it, level+1)
		return size + emptyCollection + len(it), err
	case KindL:
		size = emptyCollection
		for _, elem := range v.List() {
			n, err := measure(elem, level+1)
			if err != nil {
				return 0, err
			}
			size += 1 + n
		}
		return size, nil
	}
	return SizeOf(v), nil
}

// maxName is the longest attribute name, in bytes of UTF-8.
const maxName = 65535

func checkName(name string) error {
	switch {
	case name == "":
		return invalid("Empty attribute name")
	case len(name) > maxName:
		return invalid("Attribute name is too large, must be less than %d bytes", maxName+1)
	}
	return nil
}

func tooDeep() error {
	return invalid("Nesting Levels have exceeded supported limits: " +
		"Attributes in the item have nested levels beyond supported limit")
}
