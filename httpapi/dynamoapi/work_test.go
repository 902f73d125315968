package dynamoapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// Expressions that look through a large attribute too often are refused, whole requests and by a message that no client
// comes again for, whichever operation has them. What is only long is done.
func TestTooMuchWork(t *testing.T) {
	a := open(t)
	text := strings.Repeat("ab", 190_000)
	for _, sk := range []string{"1", "2", "3"} {
		do(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"%s"},"a":{"S":"%s"}}}`, sk, text))
	}
	many := func(term string, n int) string { return strings.TrimSuffix(strings.Repeat(term+" OR ", n), " OR ") }
	const key = `"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"%s"}}`
	checks := func(each, n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`{"ConditionCheck":{`+key+`,"ConditionExpression":"NOT (%s)","ExpressionAttributeValues":{":v":{"S":"ba~"}}}}`,
				fmt.Sprint(i+1), many("contains(a,:v)", each)))
		}
		return `{"TransactItems":[` + strings.Join(out, ",") + `]}`
	}
	statement := func(kind string, n int) string {
		where := ` WHERE pk='p' AND sk='1' AND NOT (` + many("size(a) = 1", n) + `)`
		return map[string]string{
			"UPDATE": `UPDATE tab SET b=1` + where, "DELETE": `DELETE FROM tab` + where,
			"EXISTS": `EXISTS(SELECT * FROM tab` + where + `)`,
		}[kind]
	}
	sized := fmt.Sprintf(`"NOT (%s)","ExpressionAttributeValues":{":v":{"N":"1"}}`, many("size(a) = :v", 98))
	list := `{"L":[` + strings.TrimSuffix(strings.Repeat(`{"NULL":true},`, 50_000), ",") + `]}`
	do(t, a, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"l"},"sk":{"S":"1"},"a":`+list+`}}`)
	listed := `"` + many("a <> :v", 149) + `","ExpressionAttributeValues":{":v":` + list
	const refused = "ValidationException"
	for _, c := range []struct{ op, body, want string }{
		{"TransactWriteItems", checks(149, 100), refused},
		{"TransactWriteItems", checks(20, 3), `{}`},
		{"UpdateItem", `{` + fmt.Sprintf(key, "1") + `,"UpdateExpression":"SET b = :v","ConditionExpression":` + sized + `}`, refused},
		{"DeleteItem", `{` + fmt.Sprintf(key, "1") + `,"ConditionExpression":` + sized + `}`, refused},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","FilterExpression":` + listed + `,":p":{"S":"l"}}}`, refused},
		{"Scan", `{"TableName":"tab","FilterExpression":` + listed + `}}`, refused},
		{"ExecuteStatement", `{"Statement":"` + statement("UPDATE", 98) + `"}`, refused},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"` + statement("DELETE", 98) + `"}]}`, refused},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"` + statement("EXISTS", 98) + `"}]}`, refused},
		{"ExecuteStatement", `{"Statement":"` + statement("UPDATE", 5) + `"}`, `{"Items":[]}`},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"` + statement("UPDATE", 5) + `"}]}`, `{"Responses":[{"TableName":"tab"}]}`},
	} {
		got := do(t, a, c.op, c.body)
		if c.want != refused && got != c.want || c.want == refused && !(strings.Contains(got, refused) && strings.Contains(got, "too much work")) {
			t.Errorf("%s %.60s ...\ngot  %.300s\nwant %s", c.op, c.body, got, c.want)
		}
	}
}
