package dynamoapi_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// openPartiQL returns an API with a table "tab" of pk and sk, both strings, with indexes of every kind and some items.
func openPartiQL(t *testing.T) *dynamoapi.API {
	t.Helper()
	api := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)})
	mustDo(t, api, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
			{"AttributeName":"g","AttributeType":"S"},{"AttributeName":"l","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[
			{"IndexName":"gsi-inc","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
				"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["shown"]}},
			{"IndexName":"gsi-all","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
				"Projection":{"ProjectionType":"ALL"}}],
		"LocalSecondaryIndexes":[{"IndexName":"lsi-keys","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},
			{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`)
	for _, item := range []string{
		`{'pk':'p','sk':'1','g':'x','l':'l1','shown':'s1','hidden':'h1','ss':<<'a','b','c'>>,'ns':<<1,2,3>>,'li':['a','b'],'m':{'deep':{'er':1}}}`,
		`{'pk':'p','sk':'2','g':'y','l':'l2','shown':'s2','hidden':'h2','n':5}`,
		`{'pk':'p','sk':'3','hidden':'h3'}`,
		`{'pk':'p','sk':'4','g':'x','l':'l4','shown':'s4','hidden':'h4'}`,
		`{'pk':'q','sk':'5','g':'z','shown':'s5','hidden':'h5'}`,
	} {
		mustDo(t, api, "ExecuteStatement", executing("INSERT INTO tab VALUE "+item))
	}
	return api
}

func mustDo(t *testing.T, api *dynamoapi.API, operation, body string) string {
	t.Helper()
	answer, err := api.Do(t.Context(), operation, []byte(body))
	if err != nil {
		t.Fatalf("%s %s: %v", operation, body, err)
	}
	return string(answer)
}

// executing returns the body of an ExecuteStatement; more are its other members.
func executing(text string, more ...string) string {
	return `{"Statement":` + quotedJSON(text) + strings.Join(append([]string{""}, more...), ",") + `}`
}

func quotedJSON(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// transacting returns the body of an ExecuteTransaction.
func transacting(statements ...string) string {
	for i, s := range statements {
		statements[i] = executing(s)
	}
	return `{"TransactStatements":[` + strings.Join(statements, ",") + `]}`
}

const (
	ofP           = "SELECT sk FROM tab WHERE pk='p' AND sk='1' AND "
	setOf         = "UPDATE tab SET "
	whereP        = " WHERE pk='p' AND sk='1'"
	notWellFormed = "Statement wasn't well formed, can't be processed: "
	dupSet        = "One or more parameter values were invalid: Input collection "
	notShown      = "One or more parameter values were invalid: Secondary index "
	inFirst       = "Validation failed in TransactStatements[0]: "
)

// TestPartiQLOfTheService has refusals recorded from the service itself (eu-west-2, 2026), where they differ from DynamoDB Local's or
// only they show the words.
func TestPartiQLOfTheService(t *testing.T) {
	api := openPartiQL(t)
	for _, c := range []struct{ text, want string }{
		{"SLECT * FROM tab", notWellFormed + "Expected data manipulation"},
		{"UPDATE my-table SET a=1 WHERE pk='p'", notWellFormed + "Expected data manipulation"},
		{setOf + "t=1" + whereP + " garbage", notWellFormed + "Unexpected token after expression"},
		{`SELECT * FROM "tab`, notWellFormed},
		{ofP + "attribute_exists(m.inner)", notWellFormed + "Invalid path dot component"},
		{setOf + "m.inner = set_add(m.inner, <<'y'>>)" + whereP, notWellFormed + "Invalid path dot component"},
		{ofP + "attribute_exists('ss')", "Operator or function requires a document path; operator or function: attribute_exists"},
		{ofP + "attribute_exists()", "Incorrect number of operands for operator or function; operator or function: attribute_exists, " +
			"number of operands: 0"},
		{ofP + "attribute_exists(ss, ns)", "Incorrect number of operands for operator or function; operator or function: attribute_exists, " +
			"number of operands: 2"},
		{"SELECT attribute_exists(ss) FROM tab", "Unexpected path component at 1:8:16"},
		{ofP + "EXISTS(ss)", "Unrecognized function: exists at 1:48:6"},
		{ofP + "set_add(ss, <<'x'>>) = ss", "Unrecognized function: set_add at 1:48:7"},
		{ofP + "attribute_type(li, 1)", "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N"},
		{ofP + "n < TRUE", "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		{ofP + "ss = <<'a','a'>>", dupSet + "[a, a] contains duplicates."},
		{"SELECT li[-1] FROM tab" + whereP, "List index is not within the allowable range; index: [-1] at 1:11:1"},
		{setOf + "t = set_add(ss, <<'x'>>)" + whereP, "The first argument to SET_ADD must equal the assignment value at 1:20:7"},
		{setOf + "ss = set_add(<<'a'>>, <<'b'>>)" + whereP, "The first argument to SET_ADD must equal the assignment value at 1:21:7"},
		{setOf + "ss = set_add(ss, 'x')" + whereP, "The second argument to SET_ADD must be a value with type SET at 1:29:2"},
		{setOf + `"ss" = set_delete("ss", ['x'])` + whereP, "The second argument to SET_DELETE must be a value with type SET at 1:34:4"},
		{"UPDATE tab\nSET ss = set_add(ss, 'x')\nWHERE pk='p' AND sk='1'", "The second argument to SET_ADD must be a value with type SET at 2:18:2"},
		{setOf + "ss = set_add(ss, <<'x'>>, <<'y'>>)" + whereP, "SET_ADD must have exactly two arguments at 1:21:7"},
		{setOf + "ss = set_add(ss, <<1>>)" + whereP, "An operand in the update expression has an incorrect data type"},
		{setOf + "shown = set_add(shown, <<'x'>>)" + whereP, "An operand in the update expression has an incorrect data type"},
		{setOf + "ss = set_add(ss, <<'x','x'>>)" + whereP, dupSet + "[x, x] contains duplicates."},
		{setOf + "ns = set_add(ns, <<2, 2.0>>)" + whereP, dupSet + "[2, 2.0] contains duplicates! under root"},
		{setOf + "ss = set_add(ss, <<>>)" + whereP, "Empty bags are not supported"},
		{setOf + "n = 'a' + 1" + whereP, "Incorrect operand type for operator or function; operator or function: +, operand type: S"},
		{setOf + "n = n - null" + whereP, "Incorrect operand type for operator or function; operator or function: -, operand type: NULL"},
		{setOf + "x = [[b]]" + whereP, "Unsupported data type: VariableReference under key root[0][0] at 1:22:1"},
		{setOf + "d = " + strings.Repeat("{'a':", 32) + "1" + strings.Repeat("}", 32) + whereP,
			"Nesting Levels have exceeded supported limits under root" + strings.Repeat(".a", 32)},
		{setOf + "d = {'a':" + strings.Repeat("[", 31) + "1" + strings.Repeat("]", 31) + "}" + whereP,
			"Nesting Levels have exceeded supported limits under root.a" + strings.Repeat("[0]", 31)},
		{"SELECT li[2147483648] FROM tab" + whereP, "List index is not within the allowable range; index: [2147483648] at 1:11:10"},
		{"INSERT INTO tab VALUE {'pk':'x','ss':set_add(<<'a'>>, <<'b'>>)}", "Unsupported data type: set_add under key root at 1:38:7"},
		{"DELETE FROM tab WHERE pk='x' RETURNING MODIFIED OLD *", "Invalid returning clause: RETURNING MODIFIED OLD *. " +
			"Only RETURNING ALL OLD * is allowed in DELETE statements."},
		{`SELECT * FROM "tab"."no-such-index" WHERE pk='p'`, "The table does not have the specified index"},
		{`SELECT * FROM "tab"."gsi-all"."extra" WHERE pk='p'`, "A path may contain at most 2 components in the FROM clause"},
		{`SELECT * FROM "tab"."" WHERE pk='p'`, "Path component cannot be an empty string"},
		{`SELECT hidden FROM "tab"."gsi-inc" WHERE g='x'`, "One or more parameter values were invalid: " +
			"Global secondary index gsi-inc does not project [hidden]"},
		{`SELECT pk FROM "tab"."gsi-inc" WHERE g='x' AND hidden='h1'`, notShown + "gsi-inc does not project one or more filter attributes: [hidden]"},
		{`SELECT pk FROM "tab"."lsi-keys" WHERE pk='p' AND hidden='h1'`, notShown + "lsi-keys does not project one or more filter attributes: [hidden]"},
		{`SELECT pk FROM "tab"."gsi-inc" WHERE g='x' AND b='1' AND (a='2' OR shown='3')`,
			notShown + "gsi-inc does not project one or more filter attributes: [a, b]"},
		{`SELECT pk FROM "tab"."gsi-inc" WHERE g='x' AND (zz='1' OR aa='2' OR mm='3')`,
			notShown + "gsi-inc does not project one or more filter attributes: [zz, aa, mm]"},
		{`SELECT pk FROM "tab"."gsi-inc" WHERE g IN ['x','y'] AND hidden='h1'`,
			notShown + "gsi-inc does not project one or more filter attributes: [hidden]"},
	} {
		_, err := api.Do(t.Context(), "ExecuteStatement", []byte(executing(c.text)))
		if err == nil || err.Error() != "ValidationException: "+c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestPartiQLTransactionsOfTheService is the same for transactions.
func TestPartiQLTransactionsOfTheService(t *testing.T) {
	api := openPartiQL(t)
	const one = "SELECT * FROM tab WHERE pk='p' AND sk='1'"
	const byKey = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
	for _, c := range []struct{ body, want string }{
		{transacting(one + " AND shown='s1'"), inFirst + byKey},
		{transacting(one + " AND pk='q'"), inFirst + byKey},
		{transacting("SELECT * FROM tab WHERE pk='p'"), inFirst + byKey},
		{transacting(one + " AND attribute_exists(ss)"), inFirst + byKey},
		{transacting(`SELECT * FROM "tab"."gsi-all" WHERE g='x'`), inFirst + "Reads on indices are not supported within transactions."},
		{transacting("UPDATE tab SET a=1" + whereP + " RETURNING ALL NEW *"), inFirst + "RETURNING clause is not supported in ExecuteTransaction."},
		{transacting("EXISTS("+one+")", "UPDATE tab SET z=1 WHERE pk='p' AND sk='9'"),
			inFirst + "EXISTS() must contain a single item read with additional condition"},
		{transacting("INSERT INTO tab VALUE {'pk':'b','sk':'1','x':[<<'a','a'>>]}"), inFirst + dupSet + "[a, a] contains duplicates."},
		{transacting(one, "SELECT shown FROM tab WHERE sk='1' AND pk='p'"), "Transaction request cannot include multiple operations on one item"},
		{`{"TransactStatements":[{"Statement":"UPDATE tab SET y=? WHERE pk='b'","Parameters":[{"SS":["a","a"]}]}]}`, dupSet + "[a, a] contains duplicates."},
		{`{"TransactStatements":[{"Statement":"UPDATE tab SET","Parameters":[{"SS":["a","a"]}]}]}`, dupSet + "[a, a] contains duplicates."},
	} {
		_, err := api.Do(t.Context(), "ExecuteTransaction", []byte(c.body))
		if err == nil || err.Error() != "ValidationException: "+c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.body, err, c.want)
		}
	}
	if got := mustDo(t, api, "ExecuteTransaction", transacting("SELECT sk FROM tab WHERE (sk='1') AND pk='p' AND pk='p'")); got !=
		`{"Responses":[{"Item":{"sk":{"S":"1"}}}]}` {
		t.Error(got)
	}
	_, err := api.Do(t.Context(), "ExecuteTransaction", []byte(transacting(one, "SELECT * FROM tab WHERE pk='p' AND sk='2'",
		"SELECT * FROM tab WHERE pk=1 AND sk='1'")))
	if err == nil || !strings.Contains(err.Error(), "[None, None, ValidationError]") {
		t.Error(err)
	}
}

// TestPartiQLBatchesOfTheService is the same for batches, whose statements fail independently.
func TestPartiQLBatchesOfTheService(t *testing.T) {
	api := openPartiQL(t)
	const byKey = `{"Error":{"Code":"ValidationError","Message":"Select statements within BatchExecuteStatement must specify the ` +
		`primary key in the where clause."}}`
	for _, c := range []struct{ statement, want string }{
		{"SELECT * FROM tab WHERE shown='s1'", byKey},
		{"SELECT * FROM tab WHERE pk='p' AND sk='1' AND attribute_exists(ss)", byKey},
		{`SELECT * FROM "tab"."gsi-all" WHERE g='x'`, byKey},
		{`SELECT * FROM "tab"."gsi-all" WHERE pk='p' AND sk='1' AND g='x'`, byKey},
		{"SELECT sk FROM tab WHERE pk='p' AND sk='1'", `{"TableName":"tab","Item":{"sk":{"S":"1"}}}`},
		{"DELETE FROM tab WHERE pk='x' AND sk='1' RETURNING MODIFIED OLD *", `{"Error":{"Code":"ValidationError","Message":` +
			`"Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements."}}`},
		{"UPDATE tab SET n=6 WHERE pk='p' AND sk='2' RETURNING ALL NEW *", `{"TableName":"tab","Item":{"g":{"S":"y"},"hidden":{"S":"h2"},` +
			`"l":{"S":"l2"},"n":{"N":"6"},"pk":{"S":"p"},"shown":{"S":"s2"},"sk":{"S":"2"}}}`},
		{"UPDATE tab REMOVE n WHERE pk='p' AND sk='2' RETURNING MODIFIED NEW *", `{"TableName":"tab"}`},
		{"UPDATE tab SET n=7 WHERE pk='p' AND sk='2' AND n=1", `{"Error":{"Code":"ConditionalCheckFailed","Message":` +
			`"The conditional request failed"},"TableName":"tab"}`},
		{"INSERT INTO tab VALUE {'pk':'p','sk':'2'}", `{"Error":{"Code":"DuplicateItem","Message":"Duplicate primary key exists in table"},` +
			`"TableName":"tab"}`},
	} {
		got := mustDo(t, api, "BatchExecuteStatement", `{"Statements":[`+executing(c.statement)+`]}`)
		if got != `{"Responses":[`+c.want+`]}` {
			t.Errorf("%s\ngot  %s\nwant %s", c.statement, got, c.want)
		}
	}
	got := mustDo(t, api, "BatchExecuteStatement", `{"Statements":[{"Statement":"UPDATE tab SET y=? WHERE pk='b' AND sk='1'","Parameters":[{"SS":[]}]}]}`)
	if got != `{"Responses":[{"Error":{"Code":"ValidationError","Message":"One or more parameter values were invalid: An string set  may not be empty"}}]}` {
		t.Error(got)
	}
}

// TestPartiQLOfIndexes has reads that the service accepts, and their cost.
func TestPartiQLOfIndexes(t *testing.T) {
	api := openPartiQL(t)
	const indexes = `"ReturnConsumedCapacity":"INDEXES"`
	for _, c := range []struct{ text, want string }{
		// The index determines what is shown, even with *.
		{`SELECT * FROM "tab"."gsi-inc" WHERE g='y'`, `{"Items":[{"g":{"S":"y"},"pk":{"S":"p"},"shown":{"S":"s2"},"sk":{"S":"2"}}],` +
			`"ConsumedCapacity":{"CapacityUnits":0.5,"TableName":"tab","Table":{"CapacityUnits":0.0},"GlobalSecondaryIndexes":{"gsi-inc":{"CapacityUnits":0.5}}}}`},
		// For a local index, what it does not project is fetched item by item.
		{`SELECT hidden FROM "tab"."lsi-keys" WHERE pk='p' AND l>'l1'`, `{"Items":[{"hidden":{"S":"h2"}},{"hidden":{"S":"h4"}}],` +
			`"ConsumedCapacity":{"CapacityUnits":1.5,"TableName":"tab","Table":{"CapacityUnits":1.0},"LocalSecondaryIndexes":{"lsi-keys":{"CapacityUnits":0.5}}}}`},
		{`SELECT l FROM "tab"."lsi-keys" WHERE pk='p' ORDER BY l DESC`, `{"Items":[{"l":{"S":"l4"}},{"l":{"S":"l2"}},{"l":{"S":"l1"}}],` +
			`"ConsumedCapacity":{"CapacityUnits":0.5,"TableName":"tab","Table":{"CapacityUnits":0.0},"LocalSecondaryIndexes":{"lsi-keys":{"CapacityUnits":0.5}}}}`},
	} {
		if got := mustDo(t, api, "ExecuteStatement", executing(c.text, indexes)); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{
		// Without the key it is a scan of the index, in which the attribute is missing.
		`SELECT pk FROM "tab"."gsi-inc" WHERE hidden='h1'`:                             ``,
		`SELECT pk FROM "tab"."lsi-keys" WHERE hidden='h1'`:                            ``,
		`SELECT sk FROM "tab"."gsi-inc" WHERE NOT hidden='h1'`:                         `{"sk":{"S":"1"}},{"sk":{"S":"4"}},{"sk":{"S":"2"}},{"sk":{"S":"5"}}`,
		`SELECT sk FROM "tab"."gsi-inc" WHERE (g='x' AND hidden='h1') OR (g='z')`:      `{"sk":{"S":"5"}}`,
		`SELECT sk FROM "tab"."gsi-inc" WHERE g='x' AND (shown='s1' OR shown='other')`: `{"sk":{"S":"1"}}`,
		`SELECT m.deep.er, li[1] FROM tab WHERE pk='p' AND sk='1'`:                     `{"er":{"N":"1"},"li[1]":{"S":"b"}}`,
		`SELECT li[-0] FROM tab WHERE pk='p' AND sk='1'`:                               `{"li[0]":{"S":"a"}}`,
	} {
		if got := mustDo(t, api, "ExecuteStatement", executing(text)); got != `{"Items":[`+want+`]}` {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	_, err := api.Do(t.Context(), "ExecuteStatement", []byte(executing(`SELECT * FROM "tab"."gsi-all" WHERE g='x'`, `"ConsistentRead":true`)))
	if err == nil || !strings.Contains(err.Error(), "Strongly consistent read is not supported on Global Secondary Indexes") {
		t.Error(err)
	}
}

// TestPartiQLHidesTables: the node's internal tables count as missing.
func TestPartiQLHidesTables(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "own", Key: key, Policy: store.PolicyLocal, Why: "a test's", Internal: true}, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	api := dynamoapi.New(dynamoapi.Config{Store: s})
	for _, text := range []string{
		"SELECT * FROM own", "SELECT * FROM own WHERE pk='a'", "INSERT INTO own VALUE {'pk':'a'}", "UPDATE own SET a=1 WHERE pk='a'",
		"DELETE FROM own WHERE pk='a'",
	} {
		const missing = "ResourceNotFoundException: Requested resource not found"
		if _, err := api.Do(t.Context(), "ExecuteStatement", []byte(executing(text))); err == nil || err.Error() != missing {
			t.Errorf("%s: %v", text, err)
		}
		_, err := api.Do(t.Context(), "ExecuteTransaction", []byte(transacting(text)))
		if err == nil || !strings.HasSuffix(err.Error(), "specific reasons [ResourceNotFound]") {
			t.Errorf("%s in a transaction: %v", text, err)
		}
		got := mustDo(t, api, "BatchExecuteStatement", `{"Statements":[`+executing(text)+`]}`)
		if got != `{"Responses":[{"Error":{"Code":"ResourceNotFound","Message":"Requested resource not found"}}]}` {
			t.Errorf("%s in a batch: %s", text, got)
		}
	}
}

// TestPartiQLConditionsOfTheService has conditions on one item that the service accepts.
func TestPartiQLConditionsOfTheService(t *testing.T) {
	api := openPartiQL(t)
	mustDo(t, api, "ExecuteStatement", executing("INSERT INTO tab VALUE {'pk':'b','sk':'1','n':1,'flag':'right','yes':true}"))
	for text, want := range map[string]bool{
		"attribute_exists(nope) = false": true, "true = attribute_exists(n)": true, "attribute_exists(n) <> 1": true,
		"contains(nope, 'z') = false": true, "(n BETWEEN 0 AND 5) = true": true, "(n = 5 OR flag = 'x') = false": true,
		"attribute_exists(nope) IN [true, false]": true, "attribute_exists(n) = attribute_exists(flag)": true,
		"attribute_exists(n) = yes": true, "attribute_exists(n) = 1": false, "NOT attribute_exists(n) = true": false,
		"(attribute_exists(n) = true) = false": false, "attribute_exists(n) = flag": false,
		"n = - - 1": true, "n > -/* c */-1": false, "n BETWEEN - 2 AND +5 AND n IN [- 1, 1]": true,
	} {
		got := mustDo(t, api, "ExecuteStatement", executing("SELECT n FROM tab WHERE pk='b' AND sk='1' AND "+text))
		if (got == `{"Items":[{"n":{"N":"1"}}]}`) != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	in := func(n int) string { return "['v" + strings.Repeat("0", n) + strings.Join(numbers(n), "','v") + "']" }
	const overlapping = "Overlapping conditions with range keys are not supported in where clause"
	for text, want := range map[string]string{
		"pk='b' AND attribute_exists(n) > false": "Incorrect operand type for operator or function; operator or function: >, operand type: BOOL",
		"pk IN ['b','b']":                        overlapping, "pk='b' OR pk='b'": overlapping,
		"pk IN " + in(51):                          "Too many decomposed read operations for a given query.",
		"pk='b' AND sk IN " + in(51):               "Too many decomposed read operations for a given query.",
		"pk IN " + in(26) + " AND sk IN ['1','2']": "Too many decomposed read operations for a given query.",
		"pk='b' AND n IN " + in(101):               "The IN operator is provided with too many operands; number of operands: 101",
		"pk=1 OR pk='b'":                           "Key attribute's data type should match its data type in table's schema: Key pk",
	} {
		_, err := api.Do(t.Context(), "ExecuteStatement", []byte(executing("SELECT n FROM tab WHERE "+text)))
		if err == nil || err.Error() != "ValidationException: "+want {
			t.Errorf("%.60s\ngot  %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{"pk > 1", "pk IN " + in(50) + " AND n IN " + in(100)} {
		if got := mustDo(t, api, "ExecuteStatement", executing("SELECT n FROM tab WHERE "+text, `"Limit":1`)); !strings.HasPrefix(got, `{"Items":[]`) {
			t.Errorf("%.60s: %s", text, got)
		}
	}
}

func numbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// TestPartiQLCancellationsOfTheService has transactions that fail because of keys and tables.
func TestPartiQLCancellationsOfTheService(t *testing.T) {
	api := openPartiQL(t)
	const gone = "UPDATE gone SET a=1 WHERE pk='x'"
	const mismatch = `{"Code":"ValidationError","Message":"The provided key element does not match the schema"}`
	const notFound = `{"Code":"ResourceNotFound","Message":"Requested resource not found"}`
	const none = `{"Code":"None"}`
	update := func(where string) string { return "UPDATE tab SET a=1 WHERE " + where }
	for _, c := range []struct {
		body string
		want []string
	}{
		{transacting(gone+" RETURNING ALL NEW *", "DELETE FROM gone WHERE pk='x'"), []string{notFound, notFound}},
		{transacting("SELECT * FROM tab WHERE pk='p' AND sk='1'", `SELECT * FROM "gone"."idx" WHERE pk='x'`), []string{none, notFound}},
		{transacting(update("pk='b'"), update("pk IN ['b'] AND sk='1'"), update("pk='b' AND sk='1' AND pk='c'"), update("pk='b' AND sk=1")),
			[]string{mismatch, mismatch, mismatch, mismatch}},
		{transacting("INSERT INTO tab VALUE {'pk':'b'}", "DELETE FROM tab WHERE sk='1'"), []string{
			`{"Code":"ValidationError","Message":"One or more parameter values were invalid: Missing the key sk in the item"}`, mismatch}},
		{transacting("SELECT * FROM tab WHERE pk='b' AND sk=1"), []string{mismatch}},
		{transacting("EXISTS(SELECT * FROM tab WHERE pk='p' AND sk='1' AND pk='q' AND shown='s1')", "INSERT INTO tab VALUE {'pk':'b','sk':'1'}"),
			[]string{`{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}`, none}},
	} {
		_, err := api.Do(t.Context(), "ExecuteTransaction", []byte(c.body))
		refused, ok := errors.AsType[*dynamoapi.Error](err)
		if !ok || !strings.Contains(string(refused.Wire()), `"CancellationReasons":[`+strings.Join(c.want, ",")+`]`) {
			t.Errorf("%s\ngot  %v\nwant %v", c.body, err, c.want)
			if ok {
				t.Logf("%s", refused.Wire())
			}
		}
	}
	for body, want := range map[string]string{
		transacting(gone, "UPDATE tab SET a=1"+whereP+" RETURNING ALL NEW *"): "Validation failed in TransactStatements[1]: RETURNING clause is not supported in ExecuteTransaction.",
		transacting("EXISTS(SELECT * FROM tab WHERE pk IN ['p'] AND sk='1' AND n=1)", update("pk='b' AND sk='1'")): inFirst +
			"EXISTS() must contain a single item read with additional condition",
		transacting(update("pk='b' AND sk='1'") + " AND x=[?]"): inFirst + "Number of parameters in request and statement don't match.",
	} {
		if _, err := api.Do(t.Context(), "ExecuteTransaction", []byte(body)); err == nil || err.Error() != "ValidationException: "+want {
			t.Errorf("%s\ngot  %v\nwant %s", body, err, want)
		}
	}
	for _, where := range []string{"pk IN ['p'] AND sk IN ['1']", "(pk IN ['p']) AND pk='p' AND sk='1'"} {
		if got := mustDo(t, api, "ExecuteTransaction", transacting("SELECT sk FROM tab WHERE "+where)); got != `{"Responses":[{"Item":{"sk":{"S":"1"}}}]}` {
			t.Errorf("%s: %s", where, got)
		}
	}
}
