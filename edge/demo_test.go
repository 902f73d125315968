package edge_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/edge/cricket"
)

// expected is what an independent count over the records says of a match (internal/tools/count).
type expected struct {
	Innings []edge.SummaryInnings
	Result  string
	Winner  string
	Events  map[string]int
	Wickets map[string]int // by kind
	Ends    []string       // why innings ended
}

func readExpected(t *testing.T) map[string]expected {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("cricket", "replay", "testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expected
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// playDemo plays a match to its end at top speed.
func playDemo(t *testing.T, id, dir string) *edge.Summary {
	t.Helper()
	s, err := edge.Demo(t.Context(), edge.DemoConfig{
		Match: id, Listen: "127.0.0.1:0", DataDir: dir, Once: true, Out: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// numbersOnly leaves out how the report words an innings: the count has numbers.
func numbersOnly() cmp.Option {
	return cmpopts.IgnoreFields(edge.SummaryInnings{}, "AllOut", "Declared")
}

func agree(t *testing.T, got *edge.Summary, want expected) {
	t.Helper()
	if diff := cmp.Diff(want.Innings, got.Innings, numbersOnly()); diff != "" {
		t.Errorf("innings (-record +node):\n%s", diff)
	}
	events := map[string]int{}
	for kind, n := range got.Events {
		if counted := countedAs(cricket.EventType(kind), true); counted != "" {
			events[counted] += n
		}
	}
	if diff := cmp.Diff(want.Events, events); diff != "" {
		t.Errorf("events (-count +node):\n%s", diff)
	}
	words := map[string]string{"win": want.Winner + " won", "tie": "Match tied", "draw": "Match drawn", "no result": "No result"}
	if !strings.HasPrefix(got.Result, words[want.Result]) {
		t.Errorf("result %q, want %q", got.Result, words[want.Result])
	}
	if got.Pushes.Refused != 0 || got.Pushes.Sent != got.Pushes.Accepted || got.Pushes.Sent == 0 {
		t.Errorf("pushes %+v: all should be accepted", got.Pushes)
	}
	told := map[string]bool{}
	for _, a := range got.Alerts {
		if told[a.Key] {
			t.Errorf("alert %s twice", a.Key)
		}
		told[a.Key] = true
	}
	if !told["result"] {
		t.Error("nobody was told the result")
	}
}

// A finished match is played again, and comes out the same.
func TestDemoTwice(t *testing.T) {
	dir := t.TempDir()
	first := playDemo(t, "1343760", dir)
	second := playDemo(t, "1343760", dir)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	agree(t, first, readExpected(t)["1343760"])
}
