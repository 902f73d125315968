package dynamoapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

// FuzzPartiQL runs two statements with parameters, each alone, both in a batch and both in a transaction: the answer is JSON,
// with a status that is no fault of the node.
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

// withParameters is a statement with as many of the parameters as it has question marks, which is a guess.
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
