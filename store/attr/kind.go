package attr

import "slices"

// Kind is the type of a value. The zero Kind means an absent value.
type Kind uint8

// DynamoDB's ten types.
const (
	KindS    Kind = iota + 1 // string, UTF-8
	KindN                    // number, 38 significant digits
	KindB                    // binary
	KindBool                 // true or false
	KindNull                 // the explicit null
	KindL                    // list of values of any type
	KindM                    // map of names to values of any type
	KindSS                   // set of strings
	KindNS                   // set of numbers
	KindBS                   // set of binaries
)

var kindNames = [...]string{
	KindS:    "S",
	KindN:    "N",
	KindB:    "B",
	KindBool: "BOOL",
	KindNull: "NULL",
	KindL:    "L",
	KindM:    "M",
	KindSS:   "SS",
	KindNS:   "NS",
	KindBS:   "BS",
}

// String returns DynamoDB's name of the type, as used in its JSON and by attribute_type; "" for an absent value.
func (k Kind) String() string { return kindNames[k] }

// ParseKind returns the type with the given DynamoDB name.
func ParseKind(name string) (Kind, bool) {
	k := max(0, slices.Index(kindNames[:], name))
	return Kind(k), k > 0
}
