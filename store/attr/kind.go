package attr

// Kind is the type of a value. The zero Kind is that of an absent value.
type Kind uint8

// The ten types of DynamoDB.
const (
	KindS    Kind = iota + 1 // string, UTF-8
	KindN                    // number, 38 significant digits
	KindB                    // binary
	KindBool                 // true or false
	KindNull                 // known to be nothing
	KindL                    // list of values of any type
	KindM                    // map of names to values of any type
	KindSS                   // set of strings
	KindNS                   // set of numbers
	KindBS                   // set of binaries
)

// String returns DynamoDB's name of the type, the one used in its JSON and by attribute_type; "" for absent.
func (k Kind) String() string {
	switch k {
	case KindS:
		return "S"
	case KindN:
		return "N"
	case KindB:
		return "B"
	case KindBool:
		return "BOOL"
	case KindNull:
		return "NULL"
	case KindL:
		return "L"
	case KindM:
		return "M"
	case KindSS:
		return "SS"
	case KindNS:
		return "NS"
	case KindBS:
		return "BS"
	}
	return ""
}

// ParseKind finds the type of a name as DynamoDB writes it.
func ParseKind(name string) (Kind, bool) {
	for k := KindS; k <= KindBS; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}
