package dynamoapi_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// mismatches are the service's words for a value of the wrong type in place of one of the API's types; X stands for the
// name in angle brackets.
func mismatches() map[string]map[string]string {
	const collection, structure = "Unrecognized collection type class ", "Start of structure or map found where not expected"
	const shape = collection + "com.amazonaws.dynamodb.v20120810.X"
	number := func(kind string) map[string]string {
		return map[string]string{
			`"a"`: "STRING_VALUE cannot be converted to " + kind, `true`: "TRUE_VALUE cannot be converted to " + kind,
			`false`: "FALSE_VALUE cannot be converted to " + kind, `[]`: collection + "java.lang." + kind, `{}`: structure,
		}
	}
	return map[string]map[string]string{
		"String": {
			`true`: "TRUE_VALUE cannot be converted to String", `false`: "FALSE_VALUE cannot be converted to String",
			`23`: "NUMBER_VALUE cannot be converted to String", `2.5`: "DECIMAL_VALUE cannot be converted to String",
			`[]`: collection + "java.lang.String", `{}`: structure,
		},
		"Long": number("Long"), "Integer": number("Integer"),
		"Boolean": {
			`23`: "NUMBER_VALUE cannot be converted to Boolean", `"a"`: "Unexpected token received from parser",
			`[]`: collection + "java.lang.Boolean", `{}`: structure,
		},
		"List":        {`"a"`: "Unexpected field type", `23`: "Unexpected field type", `true`: "Unexpected field type", `{}`: structure},
		"ValueStruct": {`"a"`: "Unexpected value type in payload", `23`: "Unexpected value type in payload", `true`: "Unexpected value type in payload", `[]`: shape},
		"FieldStruct": {`"a"`: "Unexpected field type", `23`: "Unexpected field type", `true`: "Unexpected field type", `[]`: shape},
	}
}

// TestTypesOfMembers: testdata/tables/types.txt has the operations, members and types.
func TestTypesOfMembers(t *testing.T) {
	data, err := os.ReadFile("testdata/tables/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := managed(t, time.Now)
	known := mismatches()
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		kind, name, _ := strings.Cut(strings.TrimSuffix(words[2], ">"), "<")
		for value, message := range known[kind] {
			body, steps := value, strings.Split(words[1], ".")
			for _, step := range slices.Backward(steps) {
				if step == "0" {
					body = "[" + body + "]"
				} else {
					body = `{"` + step + `":` + body + "}"
				}
			}
			message = strings.Replace(message, "v20120810.X", "v20120810."+name, 1)
			want := `{"__type":"com.amazon.coral.service#SerializationException","Message":"` + message + `"}`
			if got := do(t, a, words[0], body); got != want {
				t.Errorf("%s %s:\ngot  %s\nwant %s", words[0], body, got, want)
			}
		}
	}
}
