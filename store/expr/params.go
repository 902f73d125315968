package expr

import (
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// The limits of DynamoDB on parameters.
const (
	maxPlaceholder = 255
	maxName        = 65535
)

// Params are the names and values that the placeholders of a request stand for: ExpressionAttributeNames ("#n" to
// an attribute name) and ExpressionAttributeValues (":v" to a value). Several expressions share them.
type Params struct {
	Names  map[string]string
	Values attr.Item

	// Long says that the texts were not sent but made of parameters that have other limits: they may be longer than an expression
	// and have more operators.
	Long bool
}

// Check refuses parameters that no expression could use.
func (p Params) Check() error {
	if why := firstFault(p.Names, faultOfName); why != "" {
		return invalid("ExpressionAttributeNames contains invalid %s", why)
	}
	if why := firstFault(p.Values, faultOfValue); why != "" {
		return invalid("ExpressionAttributeValues contains invalid %s", why)
	}
	return nil
}

// firstFault returns what is wrong with the faulty parameter that sorts first, so that an error is always the same one.
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
