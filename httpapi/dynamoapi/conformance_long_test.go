//go:build long

package dynamoapi_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/storetest/conformance"
)

var update = flag.Bool("update", false, "record what DynamoDB Local answers, and our API where a step says it differs")

// suite is the folder of the recorded answers.
const suite = "../../store/storetest"

// TestRecorded compares DynamoDB Local with the recorded answers, which are its own.
func TestRecorded(t *testing.T) {
	local := ddblocal.Start(t)
	open := func(t testing.TB) conformance.Target { return emptied(t, local) }
	if !*update {
		conformance.Run(t, conformance.Local, open)
		return
	}
	files, err := conformance.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(f.Name, func(t *testing.T) {
			conformance.Record(t, conformance.Local, f, open)
			conformance.Record(t, conformance.Ours, f, func(t testing.TB) conformance.Target { return overStore(storetest.Open(t)) })
			write(t, filepath.Join(suite, "conformance", "testdata", f.Name+".txt"), f.String())
		})
	}
	differences := filepath.Join(suite, "DIFFERENCES.md")
	page, err := os.ReadFile(differences)
	if err != nil {
		t.Fatal(err)
	}
	write(t, differences, conformance.Differences(string(page), files))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// emptied returns a DynamoDB Local without tables.
func emptied(t testing.TB, s *ddblocal.Server) *ddblocal.Server {
	t.Helper()
	must := func(operation string, request any) []byte {
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Do(context.Background(), operation, body)
		if err != nil {
			t.Fatalf("%s: %v", operation, err)
		}
		return answer
	}
	var tables struct{ TableNames []string }
	if err := json.Unmarshal(must("ListTables", map[string]any{}), &tables); err != nil {
		t.Fatal(err)
	}
	for _, name := range tables.TableNames {
		must("DeleteTable", map[string]any{"TableName": name})
	}
	return s
}
