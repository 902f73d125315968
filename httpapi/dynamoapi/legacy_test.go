package dynamoapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLegacyParameters: what the old parameters mean, and what is refused of them, is what DynamoDB Local makes of them.
func TestLegacyParameters(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/legacy.txt")
}

// TestLegacyLimits: the old parameters have limits of their own, not those of expressions.
func TestLegacyLimits(t *testing.T) {
	api := recordedTables(t)
	const many = 600
	var updates, expected []string
	for i := range many {
		updates = append(updates, fmt.Sprintf(`"attribute%d":{"Action":"PUT","Value":{"N":"%d"}}`, i, i))
		expected = append(expected, fmt.Sprintf(`"attribute%d":{"Value":{"N":"%d"}}`, i, i))
	}
	values := make([]string, 27_500)
	for i := range values {
		values[i] = fmt.Sprintf(`{"N":"%d"}`, i)
	}
	in := `{"attribute7":{"ComparisonOperator":"IN","AttributeValueList":[` + strings.Join(values, ",") + `]}}`
	for _, step := range []struct{ op, body, want string }{
		{"UpdateItem", `{"TableName":"hash","Key":{"a":{"S":"x"}},"AttributeUpdates":{` + strings.Join(updates, ",") + `}}`, `{}`},
		{"UpdateItem", `{"TableName":"hash","Key":{"a":{"S":"x"}},"AttributeUpdates":{"z":{"Value":{"S":"1"}}},"Expected":{` + strings.Join(expected, ",") + `}}`, `{}`},
		{"DeleteItem", `{"TableName":"hash","Key":{"a":{"S":"x"}},"Expected":{` + strings.Join(expected, ",") + `,"y":{"Value":{"S":"1"}}}}`, "ConditionalCheckFailedException"},
		{"Scan", `{"TableName":"hash","Select":"COUNT","ScanFilter":` + in + `}`, `{"Count":1,"ScannedCount":1}`},
		{"Query", `{"TableName":"hash","Select":"COUNT","KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}},"QueryFilter":` + in + `}`,
			`{"Count":1,"ScannedCount":1}`},
	} {
		if got := do(t, api, step.op, step.body); !strings.Contains(got, step.want) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", step.op, short(step.body), short(got), step.want)
		}
	}
}
