package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

func TestBind(t *testing.T) {
	x := attr.Item{":x": attr.Int(1)}
	for _, c := range []struct {
		name string
		r    Request
		want string
	}{
		{"nothing", Request{}, ""},
		{"one expression", Request{Condition: "a = :x", Params: Params{Values: x}}, ""},
		{"a value of one expression each", Request{Update: "SET a = :x", Condition: "#b = :y", Params: Params{
			Names: map[string]string{"#b": "b"}, Values: attr.Item{":x": attr.Int(1), ":y": attr.Int(2)}}}, ""},
		{"all expressions", Request{KeyCondition: "pk = :x", Filter: "a = :x", Projection: "#b", Key: testKey("pk", ""),
			Params: Params{Names: map[string]string{"#b": "b"}, Values: x}}, ""},
		{"unused value", Request{Condition: "attribute_exists(a)", Params: Params{Values: x}},
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}"},
		{"unused values", Request{Update: "REMOVE a", Condition: "a = :x", Params: Params{Values: attr.Item{
			":x": attr.Int(1), ":z": attr.Int(1), ":b": attr.Int(1), ":c": attr.Int(1)}}},
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:b, :c, :z}"},
		{"unused name before unused value", Request{Condition: "attribute_exists(a)", Params: Params{
			Names: map[string]string{"#a": "a"}, Values: x}},
			"Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}"},
		{"undefined before unused", Request{Condition: "a = :y", Params: Params{Values: x}}, "Invalid ConditionExpression: " +
			"An expression attribute value used in expression is not defined; attribute value: :y"},
		{"the update first", Request{Update: "SET", Condition: "a", Filter: "a"},
			`Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"`},
		{"the filter", Request{Filter: "a"}, `Invalid FilterExpression: Syntax error; token: "<EOF>", near: "a"`},
		{"no expression, names", Request{Params: Params{Names: map[string]string{"#a": "a"}}},
			"ExpressionAttributeNames can only be specified when using expressions"},
		{"no expression, values", Request{Params: Params{Values: x}},
			"ExpressionAttributeValues can only be specified when using expressions"},
		{"unused before a key condition that cannot be a range", Request{KeyCondition: "pk < :x", Key: testKey("pk", ""),
			Params: Params{Values: attr.Item{":x": attr.Int(1), ":y": attr.Int(1)}}},
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}"},
		{"key condition", Request{KeyCondition: "pk < :x", Key: testKey("pk", ""), Params: Params{Values: x}},
			"Query key condition not supported"},
	} {
		_, err := Bind(c.r)
		checkError(t, c.name, err, "", c.want)
	}
}

func TestParams(t *testing.T) {
	long := strings.Repeat("y", 254)
	for _, c := range []struct {
		params Params
		want   string
	}{
		{Params{Names: map[string]string{"a": "b"}}, `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{Params{Names: map[string]string{"#": "b"}}, `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{Params{Names: map[string]string{"#a-b": "b", "#c-d": "e"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"`},
		{Params{Names: map[string]string{":a": "b"}}, `ExpressionAttributeNames contains invalid key: Syntax error; key: ":a"`},
		{Params{Names: map[string]string{"#a": ""}},
			"ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
		{Params{Names: map[string]string{"#a": strings.Repeat("n", 65536)}}, "ExpressionAttributeNames contains invalid " +
			"value: Attribute name is too large, must be less than 65536 bytes for key #a"},
		{Params{Names: map[string]string{"#a" + long: "a"}}, "ExpressionAttributeNames contains invalid key: " +
			"The expression attribute map contains a key that is too long; size of key: 256"},
		{Params{Values: attr.Item{"": attr.Int(1)}}, `ExpressionAttributeValues contains invalid key: Syntax error; key: ""`},
		{Params{Values: attr.Item{":x ": attr.Int(1)}},
			`ExpressionAttributeValues contains invalid key: Syntax error; key: ":x "`},
		{Params{Values: attr.Item{":x": attr.Value{}}}, "ExpressionAttributeValues contains invalid value: " +
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :x"},
	} {
		for range 5 { // the order of a map differs each time
			_, err := parseCondition(formCondition, "a = :x", c.params)
			checkError(t, "condition", err, "", c.want)
		}
		_, err := ParseUpdate("REMOVE a", c.params)
		checkError(t, "update", err, "", c.want)
		_, err = ParseProjection("a", c.params)
		checkError(t, "projection", err, "", c.want)
		_, err = ParseKeyCondition("a = :x", c.params, testKey("a", ""))
		checkError(t, "key condition", err, "", c.want)
		_, err = Bind(Request{Params: c.params})
		checkError(t, "bind", err, "", c.want)
	}
}

// TestParseKeepsQuiet: an expression does not know which parameters the others of its request use.
func TestParseKeepsQuiet(t *testing.T) {
	params := Params{Names: map[string]string{"#q": "q"}, Values: attr.Item{":x": attr.Int(1), ":y": attr.Int(1)}}
	if _, err := parseCondition(formCondition, "a = :x", params); err != nil {
		t.Error(err)
	}
	if _, err := ParseUpdate("SET a = :x", params); err != nil {
		t.Error(err)
	}
}

func TestErrorsAreFaults(t *testing.T) {
	_, parse := parseCondition(formCondition, "a = ", Params{})
	_, bind := Bind(Request{Condition: "a = b", Params: one})
	u, err := ParseUpdate("SET a = b", Params{})
	if err != nil {
		t.Fatal(err)
	}
	_, apply := u.Apply(attr.Item{})
	for name, err := range map[string]error{"parse": parse, "bind": bind, "apply": apply} {
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code != "validation" {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// TestReserved checks the ends of the list, case, and words that only look reserved.
func TestReserved(t *testing.T) {
	for _, word := range []string{"ABORT", "zone", "Name", "status", "LocalTimestamp", "size", "data", "ttl", "a", "PK",
		"remove", "timestamps", "LocalTimestampX", "", "updatedAt"} {
		want := map[string]bool{"ABORT": true, "zone": true, "Name": true, "status": true, "LocalTimestamp": true,
			"size": true, "data": true, "ttl": true}[word]
		if isReserved(word) != want {
			t.Errorf("reserved(%q) is %v", word, !want)
		}
	}
}
