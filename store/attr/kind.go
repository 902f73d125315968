package attr

import "slices"

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

// String returns DynamoDB's name of the type, the one used in its JSON and by attribute_type; "" for absent.
func (k Kind) String() string { return kindNames[k] }

// ParseKind finds the type of a name as DynamoDB writes it.
func ParseKind(name string) (Kind, bool) {
	k := max(0, slices.Index(kindNames[:], name))
	return Kind(k), k > 0
}
