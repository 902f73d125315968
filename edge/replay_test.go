package edge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge"
	"github.com/touchline/touchline/internal/fault"
)

// A short match, told truly and by a feed that lies, with restarts: what an independent count says, and what is
// promised. One seed gives one replay.
func TestReplay(t *testing.T) {
	clean := replayed(t, edge.ReplayConfig{Sources: []string{"1343760"}})
	for _, problem := range againstCount(clean, readExpected(t)["1343760"]) {
		t.Error(problem)
	}
	lied := edge.ReplayConfig{Sources: []string{"1343760"}, Faults: 3, Restarts: 2}
	first, second := replayed(t, lied), replayed(t, lied)
	for _, problem := range againstClean(first, clean) {
		t.Error(problem)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the same seed (-first +second):\n%s", diff)
	}
}

func TestReplayWithoutBalls(t *testing.T) {
	r := replayed(t, edge.ReplayConfig{Sources: []string{"1343760"}, NoBalls: true})
	for _, problem := range againstCount(r, readExpected(t)["1343760"]) {
		t.Error(problem)
	}
	for _, e := range r.Record {
		if e.BallID != 0 {
			t.Errorf("%s is of a ball, and none was read: %+v", e.Key, e)
		}
	}
}

func TestReplaySources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source, want string
		kind         fault.Kind
	}{
		{"99999", `no recorded match "99999" and no such file`, fault.NotFound},
		{filepath.Join(dir, "no.json"), "no such file", fault.NotFound},
		{empty, "has no match files", fault.NotFound},
		{write("1.json", "hello"), "is no match file of Cricsheet: byte 1 is not as JSON has it", fault.Invalid},
		{write("2.json", `{"info":{"teams":["A","B"]}}`), "it has no innings", fault.Invalid},
		{write("3.json", `{"data":[]}`), `it has "data", which no match has`, fault.Invalid},
		{write("4.json", `{"info":3}`), "info is not a value of the kind that belongs there (number)", fault.Invalid},
		{write("5.json", `{`), "it ends too early", fault.Invalid},
	} {
		err := edge.Replay(t.Context(), edge.ReplayConfig{Sources: []string{tt.source}})
		if err == nil || !strings.Contains(err.Error(), tt.want) || fault.KindOf(err) != tt.kind {
			t.Errorf("%s: %v, want %v %q", tt.source, err, tt.kind, tt.want)
		}
	}
	var failed []error
	write("README.txt", "about")
	write("no.json", "{}")
	passed := map[string]int{}
	err := edge.Replay(t.Context(), edge.ReplayConfig{
		Sources: []string{dir}, Failed: func(err error) { failed = append(failed, err) },
		Passed: func(dir string, files int) { passed[dir] = files },
	})
	if len(failed) != 5 || err == nil || !strings.Contains(err.Error(), "5 of 5") {
		t.Errorf("%d told, %v", len(failed), err)
	}
	if diff := cmp.Diff(map[string]int{dir: 2}, passed); diff != "" {
		t.Errorf("passed over (-want +got):\n%s", diff)
	}
}

// A terminal that is gone ends the replay; so does an interrupt.
func TestReplayEnds(t *testing.T) {
	gone := errors.New("gone")
	c := edge.ReplayConfig{Sources: []string{"1343760", "1343760", "1343760"}, Report: func(*edge.ReplayReport) error { return gone }}
	if err := edge.Replay(t.Context(), c); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = edge.ReplayConfig{Sources: []string{"1086066"}, Progress: func(string, float64) { cancel() }}
	if err := edge.Replay(ctx, c); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}

// An innings is told as alerts tell it.
func TestSummaryInnings(t *testing.T) {
	r := replayed(t, edge.ReplayConfig{Sources: []string{"1192877"}})
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"125/8       (20)\n", "88 all out  (16)\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
