package cricketapp_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/internal/fault"
)

// expected is what an independent count over the records says of a match (internal/tools/count).
type expected struct {
	Innings []cricketapp.SummaryInnings
	Result  string
	Winner  string
	Events  map[string]int
	Wickets map[string]int // by kind
	Ends    []string       // why innings ended
}

func readExpected(t *testing.T) map[string]expected {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "replay", "testdata", "expected.json"))
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
func playDemo(t *testing.T, id, dir string) *cricketapp.Summary {
	t.Helper()
	s, err := cricketapp.Demo(t.Context(), cricketapp.DemoConfig{
		Match: id, Listen: "127.0.0.1:0", DataDir: dir, Once: true, Out: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// numbersOnly ignores the fields that only word an innings: the count has numbers.
func numbersOnly() cmp.Option {
	return cmpopts.IgnoreFields(cricketapp.SummaryInnings{}, "AllOut", "Declared")
}

func agree(t *testing.T, got *cricketapp.Summary, want expected) {
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
	seen := map[string]bool{}
	for _, a := range got.Alerts {
		if seen[a.Key] {
			t.Errorf("alert %s twice", a.Key)
		}
		seen[a.Key] = true
	}
	if !seen["result"] {
		t.Error("no alert for the result")
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	const match = "1343760"
	dir := t.TempDir()
	clean := playDemo(t, match, dir)
	agree(t, clean, readExpected(t)[match])
	t.Run("again", func(t *testing.T) { playedAgain(t, match, dir, clean) })
	t.Run("foreign rows", func(t *testing.T) { amongForeignRows(t, match, clean) })
}

// A finished match is played again, with the same outcome. With -short the second run ends with its third alert.
func playedAgain(t *testing.T, match, dir string, first *cricketapp.Summary) {
	t.Helper()
	if !testing.Short() {
		if diff := cmp.Diff(first, playDemo(t, match, dir)); diff != "" {
			t.Errorf("the second run (-first +second):\n%s", diff)
		}
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := &upTo{text: first.Alerts[2].Text, heard: cancel}
	_, err := cricketapp.Demo(ctx, cricketapp.DemoConfig{Match: match, Listen: "127.0.0.1:0", DataDir: dir, Once: true, Out: said})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("interrupted: %v", err)
	}
	rest := said.all.String()
	for _, alert := range first.Alerts[:3] {
		var found bool
		if _, rest, found = strings.Cut(rest, alert.Text); !found {
			t.Errorf("the second run did not print %q in its order:\n%s", alert.Text, said.all.String())
		}
	}
}

// upTo is a terminal that calls heard when text is written to it.
type upTo struct {
	text  string
	heard func()
	all   strings.Builder
}

// Write implements io.Writer.
func (u *upTo) Write(p []byte) (int, error) {
	u.all.Write(p)
	if strings.Contains(string(p), u.text) {
		u.heard()
	}
	return len(p), nil
}
