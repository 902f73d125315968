package expr

import (
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// DynamoDB's limits for parameters, in bytes.
const (
	maxPlaceholder = 255
	maxName        = 65535
)

// Params holds the values of the placeholders of a request: ExpressionAttributeNames ("#n" to an attribute name) and
// ExpressionAttributeValues (":v" to a value). All its expressions share them.
type Params struct {
	Names  map[string]string
	Values attr.Item

	// Long means that the texts were generated from parameters with limits of their own: they may be longer than a sent expression and
	// have more operators.
	Long bool
}

// Check refuses parameters that no expression could use, such as "n" for "#n" or an empty value.
func (p Params) Check() error {
	if why := firstFault(p.Names, faultOfName); why != "" {
		return invalid("ExpressionAttributeNames contains invalid %s", why)
	}
	if why := firstFault(p.Values, faultOfValue); why != "" {
		return invalid("ExpressionAttributeValues contains invalid %s", why)
	}
	return nil
}

// firstFault returns the fault of the first faulty parameter in sorted order, so the error does not depend on the order of the map.
func firstFault[V any](params map[string]V, faultOf func(key string, v V) string) string {
	first, why := "", ""
	for key, v := range params {
		if f := faultOf(key, v); f != "" && (why == "" || key < first) {
			first, why = key, f
		}
	}
	return why
}

func faultOfName(key, name string) string {
	switch {
	case name == "":
		return "value: Empty attribute name for key " + key
	case len(name) > maxName:
		return "value: Attribute name is too large, must be less than 65536 bytes for key " + key
	}
	return faultOfKey(key, tokName)
}

func faultOfValue(key string, v attr.Value) string {
	if v.IsZero() {
		return "value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key " + key
	}
	return faultOfKey(key, tokValue)
}

func faultOfKey(key string, want tokenKind) string {
	if len(key) > maxPlaceholder {
		return "key: The expression attribute map contains a key that is too long; size of key: " + strconv.Itoa(len(key))
	}
	if kind, width := scan(key); kind != want || width != len(key) {
		return "key: Syntax error; key: \"" + key + "\""
	}
	return ""
}
