package dynamoapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// at returns the value at a path of names and numbers in an answer, as JSON; "" if there is none.
func at(t rapid.TB, body string, path ...any) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return ""
			}
			v = l[step]
		}
		if v == nil {
			return ""
		}
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func TestThroughputGrowsAndShrinks(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	a, _ := managed(t, func() time.Time { return now })
	accepted(t, a, "CreateTable", `{"TableName":"tab","ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":5},`+simple+`}`)
	steps := []struct {
		units, answer, then string
		after               time.Duration
	}{
		{`{"ReadCapacityUnits":30,"WriteCapacityUnits":15}`,
			`{"LastIncreaseDateTime":1795302000,"NumberOfDecreasesToday":0,"ReadCapacityUnits":10,"WriteCapacityUnits":5}`,
			`{"LastIncreaseDateTime":1795302000,"NumberOfDecreasesToday":0,"ReadCapacityUnits":30,"WriteCapacityUnits":15}`, 0},
		{`{"ReadCapacityUnits":10,"WriteCapacityUnits":5}`,
			`{"LastDecreaseDateTime":1795303800,"LastIncreaseDateTime":1795302000,"NumberOfDecreasesToday":0,"ReadCapacityUnits":30,"WriteCapacityUnits":15}`,
			`{"LastDecreaseDateTime":1795303800,"LastIncreaseDateTime":1795302000,"NumberOfDecreasesToday":1,"ReadCapacityUnits":10,"WriteCapacityUnits":5}`, 30 * time.Minute},
		{`{"ReadCapacityUnits":9,"WriteCapacityUnits":6}`,
			`{"LastDecreaseDateTime":1795307400,"LastIncreaseDateTime":1795307400,"NumberOfDecreasesToday":0,"ReadCapacityUnits":10,"WriteCapacityUnits":5}`,
			`{"LastDecreaseDateTime":1795307400,"LastIncreaseDateTime":1795307400,"NumberOfDecreasesToday":1,"ReadCapacityUnits":9,"WriteCapacityUnits":6}`, time.Hour},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		got := accepted(t, a, "UpdateTable", `{"TableName":"tab","ProvisionedThroughput":`+step.units+`}`)
		if got := at(t, got, "TableDescription", "ProvisionedThroughput"); got != step.answer {
			t.Errorf("%s is answered with\n%s, want\n%s", step.units, got, step.answer)
		}
		if got := at(t, got, "TableDescription", "TableStatus"); got != `"UPDATING"` {
			t.Errorf("%s: the table is %s", step.units, got)
		}
		if got := at(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "ProvisionedThroughput"); got != step.then {
			t.Errorf("after %s:\n%s, want\n%s", step.units, got, step.then)
		}
	}
}

func TestBillingModeChanges(t *testing.T) {
	now := time.Unix(1795302000, 0)
	a, _ := managed(t, func() time.Time { return now })
	accepted(t, a, "CreateTable", `{"TableName":"tab","ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":5},`+simple+`,
		"GlobalSecondaryIndexes":[{"IndexName":"one","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},
		"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}]}`)
	if got := at(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "BillingModeSummary"); got != "" {
		t.Errorf("a table that was never on demand has a summary: %s", got)
	}
	const none = `{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0}`
	got := accepted(t, a, "UpdateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","OnDemandThroughput":{"MaxReadRequestUnits":7}}`)
	for path, want := range map[string]string{
		"BillingModeSummary":    `{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1795302000}`,
		"ProvisionedThroughput": none, "OnDemandThroughput": `{"MaxReadRequestUnits":7}`,
	} {
		if got := at(t, got, "TableDescription", path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := at(t, got, "TableDescription", "GlobalSecondaryIndexes", 0, "ProvisionedThroughput"); got != none {
		t.Errorf("the index has %s", got)
	}
	got = accepted(t, a, "UpdateTable", `{"TableName":"tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":5},
		"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"one","ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4}}}]}`)
	if got := at(t, got, "TableDescription", "BillingModeSummary", "BillingMode"); got != `"PROVISIONED"` {
		t.Errorf("the mode is %s", got)
	}
	got = accepted(t, a, "DescribeTable", `{"TableName":"tab"}`)
	if got := at(t, got, "Table", "GlobalSecondaryIndexes", 0, "ProvisionedThroughput", "WriteCapacityUnits"); got != "4" {
		t.Errorf("the index has %s write units", got)
	}
	got = do(t, a, "UpdateTable", `{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"one","ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4}}}]}`)
	if !strings.Contains(got, "The provisioned throughput for the index one will not change.") {
		t.Errorf("nothing changes: %s", got)
	}
}

func TestIndexesComeAndGo(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true})
	a := dynamoapi.New(dynamoapi.Config{Store: s})
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	for i := range 3000 / 25 { // takes several steps to fill
		var puts []string
		for j := range 25 {
			puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"a":{"S":"%d"},"b":{"N":"%d"}}}}`, i*25+j, i*25+j))
		}
		accepted(t, a, "BatchWriteItem", `{"RequestItems":{"tab":[`+strings.Join(puts, ",")+`]}}`)
	}
	create := func(name string) string {
		return `{"TableName":"tab","AttributeDefinitions":[{"AttributeName":"b","AttributeType":"N"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"` + name +
			`","KeySchema":[{"AttributeName":"b","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`
	}
	got := accepted(t, a, "UpdateTable", create("one"))
	if got := at(t, got, "TableDescription", "GlobalSecondaryIndexes", 0, "IndexStatus"); got != `"CREATING"` {
		t.Errorf("the new index is %s", got)
	}
	got = accepted(t, a, "DescribeTable", `{"TableName":"tab"}`)
	if got := at(t, got, "Table", "GlobalSecondaryIndexes", 0, "Backfilling"); got != "true" {
		t.Errorf("the new index is being filled: %s", got)
	}
	if got := at(t, got, "Table", "AttributeDefinitions", 1); got != `{"AttributeName":"b","AttributeType":"N"}` {
		t.Errorf("its key has the definition %s", got)
	}
	if got := do(t, a, "UpdateTable", create("two")); !strings.Contains(got, "LimitExceededException") {
		t.Errorf("a second index meanwhile: %s", got)
	}
	for { // as Housekeep does
		if err := s.Define(t.Context(), s.Tables()[0]); err != nil {
			t.Fatal(err)
		}
		got = accepted(t, a, "DescribeTable", `{"TableName":"tab"}`)
		if at(t, got, "Table", "GlobalSecondaryIndexes", 0, "IndexStatus") == `"ACTIVE"` {
			break
		}
	}
	if got := at(t, got, "Table", "GlobalSecondaryIndexes", 0, "Backfilling"); got != "" {
		t.Errorf("an active index is being filled: %s", got)
	}
	if got := do(t, a, "UpdateTable", create("one")); !strings.Contains(got, "Attempting to create an index which already exists") {
		t.Errorf("the index again: %s", got)
	}
	got = accepted(t, a, "UpdateTable", `{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"one"}}]}`)
	if got := at(t, got, "TableDescription", "GlobalSecondaryIndexes", 0, "IndexStatus"); got != `"DELETING"` {
		t.Errorf("the deleted index is %s", got)
	}
	got = accepted(t, a, "DescribeTable", `{"TableName":"tab"}`)
	if got := at(t, got, "Table", "GlobalSecondaryIndexes") + at(t, got, "Table", "AttributeDefinitions", 1); got != "" {
		t.Errorf("left of the index: %s", got)
	}
	got = do(t, a, "UpdateTable", `{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"one"}}]}`)
	if want := `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`; got != want {
		t.Errorf("deleted twice: %s", got)
	}
}

func TestTheSmallerOperations(t *testing.T) {
	a, _ := managed(t, time.Now)
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab"`
	many := func(from, n int) string {
		var tags []string
		for i := range n {
			tags = append(tags, fmt.Sprintf(`{"Key":"k%03d","Value":""}`, from+i))
		}
		return `{` + arn + `,"Tags":[` + strings.Join(tags, ",") + `]}`
	}
	const wrong, nothing = `One or more parameter values were invalid: `, ""
	for _, step := range []struct{ op, body, want string }{
		{"CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",` + simple + `,"Tags":[{"Key":"team","Value":"blue"}]}`, `"TableName":"tab"`},
		{"ListTagsOfResource", `{` + arn + `}`, `{"Tags":[{"Key":"team","Value":"blue"}]}`},
		{"TagResource", `{` + arn + `,"Tags":[{"Key":"team","Value":"red"},{"Key":"a","Value":""}]}`, nothing},
		{"ListTagsOfResource", `{` + arn + `}`, `{"Tags":[{"Key":"a","Value":""},{"Key":"team","Value":"red"}]}`},
		{"ListTagsOfResource", `{` + arn + `,"NextToken":"a"}`, `{"Tags":[{"Key":"team","Value":"red"}]}`},
		{"TagResource", `{` + arn + `,"Tags":[{"Key":"AWS:x","Value":"red"}]}`, "Tag Key cannot be prefixed with aws:, Key: AWS:x"},
		{"TagResource", `{` + arn + `,"Tags":[{"Key":"x","Value":"red"},{"Key":"x","Value":"red"}]}`, "Duplicate Tag Keys provided as input: Duplicate Tag Key found x"},
		{"TagResource", `{` + arn + `,"Tags":[{"Key":"` + strings.Repeat("é", 129) + `","Value":""}]}`, "The Tag Key provided is invalid, Key: é"},
		{"TagResource", `{` + arn + `,"Tags":[{"Key":"x","Value":"` + strings.Repeat("é", 257) + `"}]}`, "The Tag Value provided is invalid, Value: é"},
		{"TagResource", `{` + arn + `,"Tags":[{"Key":"x"}]}`, "The Tag Value provided is invalid, Value: null"},
		{"TagResource", `{"ResourceArn":"hello","Tags":[{"Key":"x","Value":""}]}`, "#ValidationException"},
		{"TagResource", many(0, 49), "Number of Tags exceed the current limit for the provided ResourceArn"},
		{"UntagResource", `{` + arn + `,"TagKeys":["a","never"]}`, nothing},
		{"TagResource", many(0, 49), nothing},
		{"UntagResource", many(0, 1), "Value null at 'tagKeys' failed"},

		{"DescribeTimeToLive", `{"TableName":"tab"}`, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`},
		{"UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"x","Enabled":true}}`, `{"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`},
		{"DescribeTimeToLive", `{"TableName":"tab"}`, `{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"x"}}`},
		{"UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"y","Enabled":true}}`, "TimeToLive is active on a different AttributeName: current AttributeName is x"},
		{"UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"x","Enabled":false}}`, `{"TimeToLiveSpecification":{"Enabled":false,"AttributeName":"x"}}`},
		{"DescribeTimeToLive", `{"TableName":"tab"}`, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`},

		{"UpdateTable", `{"TableName":"tab","DeletionProtectionEnabled":true,"TableClass":"STANDARD_INFREQUENT_ACCESS"}`, `"DeletionProtectionEnabled":true`},
		{"DescribeTable", `{"TableName":"tab"}`, `"TableClass":"STANDARD_INFREQUENT_ACCESS"`},
		{"DeleteTable", `{"TableName":"tab"}`, "protected against deletion"},
		{"UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":true}}`, wrong + "StreamViewType is required"},
		{"UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":false}}`, "Table has no stream to disable"},
		{"UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"LatestStreamLabel":`},
		{"UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`, "Table already has an enabled stream"},
		{"UpdateTable", `{"TableName":"tab","OnDemandThroughput":{"MaxReadRequestUnits":0}}`, wrong + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"},
		{"DescribeLimits", `{}`, `{"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,"TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000}`},
		{"DescribeEndpoints", `{}`, `{"Endpoints":[{"Address":"localhost","CachePeriodInMinutes":1440}]}`},
	} {
		if got := do(t, a, step.op, step.body); got != step.want && (step.want == nothing || strings.HasPrefix(step.want, "{") || !strings.Contains(got, step.want)) {
			t.Errorf("%s %.300s:\ngot  %s\nwant %s", step.op, step.body, got, step.want)
		}
	}
}

// TestWhatMakesNoSenseHere: the answer is that of an unknown operation. Terraform, which asks for each table's backups, treats that as
// a table without any.
func TestWhatMakesNoSenseHere(t *testing.T) {
	a, _ := managed(t, time.Now)
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	for _, operation := range []string{
		"CreateBackup", "CreateGlobalTable", "DeleteBackup", "DeleteResourcePolicy", "DescribeBackup", "DescribeContinuousBackups",
		"DescribeContributorInsights", "DescribeExport", "DescribeGlobalTable", "DescribeGlobalTableSettings", "DescribeImport",
		"DescribeKinesisStreamingDestination", "DescribeTableReplicaAutoScaling", "DisableKinesisStreamingDestination",
		"EnableKinesisStreamingDestination", "ExportTableToPointInTime", "GetResourcePolicy", "ImportTable", "ListBackups",
		"ListContributorInsights", "ListExports", "ListGlobalTables", "ListImports", "PutResourcePolicy", "RestoreTableFromBackup",
		"RestoreTableToPointInTime", "UpdateContinuousBackups", "UpdateContributorInsights", "UpdateGlobalTable",
		"UpdateGlobalTableSettings", "UpdateKinesisStreamingDestination", "UpdateTableReplicaAutoScaling",
	} {
		got := do(t, a, operation, `{"TableName":"tab"}`)
		if text(t, got, "__type") != "com.amazon.coral.service#UnknownOperationException" || !strings.Contains(got, operation) {
			t.Errorf("%s: %s", operation, got)
		}
	}
}

func TestEndpointIsTheOneThatWasCalled(t *testing.T) {
	a, _ := managed(t, time.Now)
	r := httptest.NewRequest(http.MethodPost, "http://db.test:8123/", strings.NewReader(`{}`))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.DescribeEndpoints")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if got, want := w.Body.String(), `{"Endpoints":[{"Address":"db.test:8123","CachePeriodInMinutes":1440}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// mismatches returns the service's messages for a value of the wrong type in place of one of the API's types; X stands for the name in
// angle brackets.
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
