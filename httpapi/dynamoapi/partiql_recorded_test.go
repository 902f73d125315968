package dynamoapi_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/storetest"
)

var updateRecorded = flag.Bool("update-partiql", false, "write what is ours in the recorded answers anew")

// TestRecordedPartiQL runs requests in sequence on one store, and compares with DynamoDB Local's answers, or with our noted ones.
func TestRecordedPartiQL(t *testing.T) {
	file := filepath.Join("testdata", "partiql.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	api := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)})
	var out []string
	same, differ := 0, 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			out = append(out, block)
			continue
		}
		request, answers, _ := strings.Cut(block, "\nlocal ")
		local, ours, noted := strings.Cut(answers, "\nours ")
		operation, body, _ := strings.Cut(strings.TrimPrefix(request, "> "), " ")
		got := answerOf(t, api, operation, body)
		want := normalAnswer(t, request, local)
		if noted {
			want = ours
		}
		if operation == "CreateTable" {
			out = append(out, block)
			continue
		}
		if got != want && !*updateRecorded {
			t.Errorf("%s\ngot   %s\nwant  %s\nlocal %s", request, got, want, local)
		}
		if got == normalAnswer(t, request, local) {
			same++
			out = append(out, request+"\nlocal "+local)
		} else {
			differ++
			out = append(out, request+"\nlocal "+local+"\nours "+got)
		}
	}
	if same < 300 {
		t.Errorf("%d answers are the same as DynamoDB Local's, %d are not", same, differ)
	}
	t.Logf("%d the same, %d differ", same, differ)
	if *updateRecorded {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func answerOf(t *testing.T, api *dynamoapi.API, operation, body string) string {
	t.Helper()
	answer, err := api.Do(t.Context(), operation, []byte(body))
	if err != nil {
		refused, ok := errors.AsType[*dynamoapi.Error](err)
		if !ok {
			t.Fatal(err)
		}
		answer = refused.Wire()
	}
	return normalAnswer(t, body, string(answer))
}

// normalAnswer normalizes an answer for comparison: items are sorted if the request has no order, members of sets are sorted, of errors
// only the bare name remains, and of tokens only their existence.
func normalAnswer(t *testing.T, request, answer string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if kind, ok := v["__type"].(string); ok {
		_, bare, _ := strings.Cut("#"+kind, "#")
		if _, after, ok := strings.Cut(bare, "#"); ok {
			bare = after
		}
		v["__type"] = bare
		if m, ok := v["message"]; ok {
			v["Message"] = m
			delete(v, "message")
		}
	}
	if _, ok := v["NextToken"]; ok {
		v["NextToken"] = "..."
	}
	if items, ok := v["Items"].([]any); ok && !strings.Contains(request, "ORDER BY") {
		slices.SortFunc(items, func(a, b any) int { return strings.Compare(jsonText(t, a), jsonText(t, b)) })
	}
	return jsonText(t, setsSorted(v))
}

// setsSorted sorts the members of sets.
func setsSorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if list, ok := e.([]any); ok && (k == "SS" || k == "NS" || k == "BS") {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			}
			v[k] = setsSorted(e)
		}
	case []any:
		for i := range v {
			v[i] = setsSorted(v[i])
		}
	}
	return v
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// FuzzPartiQL runs two statements with parameters, each alone, both in a batch and both in a transaction: the answer is JSON, with a
// status other than a server error.
func FuzzPartiQL(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "partiql.txt"))
	if err != nil {
		f.Fatal(err)
	}
	tables := strings.NewReplacer("ttt", "tab", "hhh", "one", "gidx", "by-g")
	before := "SELECT * FROM tab"
	for line := range strings.SplitSeq(string(data), "\n") {
		body, ok := strings.CutPrefix(line, "> ExecuteStatement ")
		var request struct{ Statement string }
		if !ok || json.Unmarshal([]byte(body), &request) != nil {
			continue
		}
		text := tables.Replace(request.Statement)
		f.Add(text, before, `[{"S":"a"},{"N":"1"}]`)
		before = text
	}
	corpus.Add(f)
	r := &fuzzed{dir: f.TempDir()}
	f.Cleanup(func() { r.close(f) })
	f.Fuzz(func(t *testing.T, one, two, parameters string) {
		a := r.api(t)
		first, second := withParameters(one, parameters), withParameters(two, parameters)
		runFuzzed(t, a, "ExecuteStatement", first)
		runFuzzed(t, a, "ExecuteStatement", second)
		runFuzzed(t, a, "BatchExecuteStatement", `{"Statements":[`+first+`,`+second+`],"ReturnConsumedCapacity":"INDEXES"}`)
		runFuzzed(t, a, "ExecuteTransaction", `{"TransactStatements":[`+first+`,`+second+`],"ReturnConsumedCapacity":"INDEXES"}`)
	})
}

// withParameters returns a statement with as many of the parameters as it has question marks, which is a guess.
func withParameters(text, parameters string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `{"Statement":""}`
	}
	var all []json.RawMessage
	if json.Unmarshal([]byte(parameters), &all) == nil {
		all = all[:min(len(all), strings.Count(text, "?"))]
	}
	if len(all) == 0 {
		return `{"Statement":` + string(quoted) + `}`
	}
	list, err := json.Marshal(all)
	if err != nil {
		return `{"Statement":""}`
	}
	return `{"Statement":` + string(quoted) + `,"Parameters":` + string(list) + `,"Limit":2}`
}

func runFuzzed(t *testing.T, a *dynamoapi.API, operation, request string) {
	t.Helper()
	if answer := isAnswered(t, a, operation, request); strings.HasPrefix(answer, `{"__type":`) && strings.Contains(answer, "Syntax error") {
		t.Fatalf("%s %s: an expression of ours is faulty: %s", operation, request, answer)
	}
}
