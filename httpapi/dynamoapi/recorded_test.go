package dynamoapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/storetest/conformance"
)

// recorded is a request with its recorded answer.
type recorded struct {
	line            int
	operation, body string
	want            string
	ours, because   string // our different answer, and why; empty: as recorded
}

// readRecorded reads a file of recorded answers. testdata/recorded_writes.txt explains the format.
func readRecorded(t *testing.T, path string) (all []recorded) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	repeat := regexp.MustCompile(`\$\{(.)\*(\d+)\}`)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := repeat.ReplaceAllStringFunc(lines.Text(), func(m string) string {
			parts := repeat.FindStringSubmatch(m)
			times, _ := strconv.Atoi(parts[2])
			return strings.Repeat(parts[1], times)
		})
		detail, indented := strings.CutPrefix(text, "  ")
		switch {
		case text == "" || text[0] == '#':
		case !indented:
			operation, body, _ := strings.Cut(text, " ")
			all = append(all, recorded{line: n, operation: operation, body: body})
		default:
			last := &all[len(all)-1]
			if ours, ok := strings.CutPrefix(detail, "ours: "); ok {
				last.ours = ours
			} else if why, ok := strings.CutPrefix(detail, "because: "); ok {
				last.because = why
			} else {
				last.want = detail
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// recordedTables creates the tables of the recorded requests.
func recordedTables(t *testing.T) *dynamoapi.API {
	t.Helper()
	a, b := store.KeyAttr{Name: "a", Type: store.KeyString}, store.KeyAttr{Name: "b", Type: store.KeyString}
	c, d := store.KeyAttr{Name: "c", Type: store.KeyString}, store.KeyAttr{Name: "d", Type: store.KeyString}
	s := storetest.Open(t)
	for _, spec := range []store.TableSpec{
		{Name: "hash", Key: store.KeySpec{Partition: a}},
		{Name: "hashN", Key: store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: store.KeyNumber}}},
		{Name: "rangeB", Key: store.KeySpec{Partition: a, Sort: store.KeyAttr{Name: "b", Type: store.KeyBinary}}},
		{Name: "range", Key: store.KeySpec{Partition: a, Sort: b}, Indexes: []store.IndexSpec{
			{Name: "index1", Local: true, Key: store.KeySpec{Partition: a, Sort: c}},
			{Name: "index2", Local: true, Key: store.KeySpec{Partition: a, Sort: d}, Projection: store.ProjectInclude, Include: []string{"c"}},
			{Name: "index3", Key: store.KeySpec{Partition: c}},
			{Name: "index4", Key: store.KeySpec{Partition: c, Sort: d}, Projection: store.ProjectInclude, Include: []string{"e"}},
		}},
	} {
		spec.Policy, spec.Why = store.PolicyLocal, "a test's"
		if err := s.CreateTable(t.Context(), spec, store.TableSettings{}); err != nil {
			t.Fatal(err)
		}
	}
	return dynamoapi.New(dynamoapi.Config{Store: s})
}

func TestRecordedWrites(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/recorded_writes.txt")
}

func runRecorded(t *testing.T, api *dynamoapi.API, path string) {
	t.Helper()
	for _, r := range readRecorded(t, path) {
		got := do(t, api, r.operation, r.body)
		want := r.want
		if r.ours != "" {
			if r.because == "" {
				t.Errorf("%s:%d: an answer of our own, without a reason", path, r.line)
			}
			if answers(t, got, want) {
				t.Errorf("%s:%d: is answered as it was recorded: take the exception out", path, r.line)
			}
			want = r.ours
		}
		if !answers(t, got, want) {
			t.Errorf("%s:%d: %s %s\n got %s\nwant %s", path, r.line, r.operation, short(r.body), short(got), short(want))
		}
	}
}

func short(text string) string {
	if len(text) > 1000 {
		return text[:1000] + "..."
	}
	return text
}

// answers reports whether an answer is the expected one.
func answers(t *testing.T, got, want string) bool {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(got), &body); err != nil {
		t.Fatalf("the answer %s: %v", short(got), err)
	}
	if strings.HasPrefix(want, "{") {
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatalf("%s: %v", short(want), err)
		}
		return reflect.DeepEqual(body, wanted)
	}
	kind, _ := body["__type"].(string)
	message, _ := body["message"].(string)
	if text, ok := body["Message"].(string); ok {
		message = text
	}
	kind = kind[strings.IndexByte(kind, '#')+1:]
	if name, pattern, ok := strings.Cut(want, " ~ "); ok {
		return kind == name && regexp.MustCompile(pattern).MatchString(message)
	}
	return kind+": "+message == want
}

// TestSerializationOfWrites: JSON of the wrong shape is refused before anything else.
func TestSerializationOfWrites(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/serialization_writes.txt")
}

func TestRecordedAnswers(t *testing.T) {
	runRecorded(t, readTables(t), "testdata/recorded_answers.txt")
}

// readTables creates the tables of the recorded reads.
func readTables(t *testing.T) *dynamoapi.API {
	t.Helper()
	api := recordedTables(t)
	do(t, api, "CreateTable", `{"TableName":"rangeN","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"N"}]}`)
	return api
}

func TestRecordedGets(t *testing.T) { runRecorded(t, readTables(t), "testdata/recorded_gets.txt") }

func TestRecordedQueries(t *testing.T) {
	runRecorded(t, readTables(t), "testdata/recorded_queries.txt")
}

func TestRecordedScans(t *testing.T) { runRecorded(t, readTables(t), "testdata/recorded_scans.txt") }

// TestConformance compares the API with DynamoDB Local's answers to some thousand requests, or with noted differences.
func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Ours, func(t testing.TB) conformance.Target { return overStore(storetest.Open(t)) })
}

// target is the API with background tasks for its store: describing a table may wait for an index.
type target struct {
	*dynamoapi.API
	store *store.Store
}

func overStore(s *store.Store) target { return target{dynamoapi.New(dynamoapi.Config{Store: s}), s} }

// Do implements conformance.Target.
func (t target) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	if operation == "DescribeTable" {
		if _, err := t.store.Housekeep(ctx); err != nil {
			return nil, err
		}
	}
	return t.API.Do(ctx, operation, request)
}
