package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// What a request says by leaving a parameter away differs from what it says by an empty one. The store's Go structs
// cannot tell the two apart, so whoever reads requests refuses empty ones. That is all that is judged here.

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// read decodes a request. A parameter that is not known here is an error of the test, not a refusal.
func read(data []byte, into any) error {
	if err := checkEmpty(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// checkEmpty refuses empty expressions and empty parameters of them, wherever they are in a request: an attribute of such
// a name is an object.
func checkEmpty(data []byte) error {
	var request any
	if err := json.Unmarshal(data, &request); err != nil {
		return err
	}
	return checkPart(request)
}

func checkPart(part any) error {
	if list, ok := part.([]any); ok {
		for _, elem := range list {
			if err := checkPart(elem); err != nil {
				return err
			}
		}
	}
	fields, _ := part.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := checkField(name, fields[name]); err != nil {
			return err
		}
		if err := checkPart(fields[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkField(name string, v any) error {
	if n, ok := v.(float64); ok && name == "Limit" && n < 1 {
		return invalid("Limit must be greater than or equal to 1")
	}
	if strings.HasSuffix(name, "Expression") && v == "" {
		return invalid("Invalid %s: The expression can not be empty;", name)
	}
	if m, ok := v.(map[string]any); ok && len(m) == 0 && strings.HasPrefix(name, "ExpressionAttribute") {
		return invalid("%s must not be empty", name)
	}
	return nil
}

// values are ExpressionAttributeValues. What is wrong with one of them is told with its name.
type values attr.Item

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(data []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	*v = values{}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		value, err := attr.ParseValueJSON(parts[name])
		if err != nil {
			return invalid("ExpressionAttributeValues contains invalid value: %s for key %s", err, name)
		}
		(*v)[name] = value
	}
	return nil
}
