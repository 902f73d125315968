package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/tools/overlay"
)

// root is the module's folder, relative to this one.
const root = "../../.."

// TestListHolds: every mutant can be planted in the present code, and the tests that it names exist. If an old text no longer occurs, the
// code has changed: then change the mutant with it.
func TestListHolds(t *testing.T) {
	mutants, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	for i := range mutants {
		t.Run(mutants[i].name, func(t *testing.T) {
			if err := mutants[i].check(root); err != nil {
				t.Error(err)
			}
		})
	}
}

const sample = `words: twice
test: ./store ^TestSide$
test: ./store ^TestAdopt$
sim: yes

-- old a.go --
	x := 1
-- new --
	x := 2
	y := 3
-- old b.go --
func f() {
}
-- new --
`

func TestParse(t *testing.T) {
	m, err := parse("name", sample)
	if err != nil {
		t.Fatal(err)
	}
	want := []overlay.Change{{In: "a.go", Old: "\tx := 1\n", New: "\tx := 2\n\ty := 3\n"}, {In: "b.go", Old: "func f() {\n}\n"}}
	if m.words != "twice" || m.sim != "yes" || len(m.tests) != 2 || m.tests[1] != (testRun{"./store", "^TestAdopt$"}) ||
		len(m.changes) != 2 || m.changes[0] != want[0] || m.changes[1] != want[1] {
		t.Errorf("got %+v", m)
	}
	for name, text := range map[string]string{
		"no words":       strings.Replace(sample, "words: twice\n", "", 1),
		"nobody to ask":  strings.NewReplacer("sim: yes\n", "", "test: ./store ^TestSide$\n", "", "test: ./store ^TestAdopt$\n", "").Replace(sample),
		"no pattern":     strings.Replace(sample, " ^TestSide$", "", 1),
		"unknown":        "color: red\n" + sample,
		"no simulation":  strings.Replace(sample, "sim: yes", "sim: sea", 1),
		"no change":      "words: none\nsim: yes\n",
		"no new":         strings.Replace(sample, "-- new --\n	x := 2\n	y := 3\n", "", 1),
		"no marker":      strings.Replace(sample, "-- old a.go --", "-- old a.go", 1),
		"new before old": strings.Replace(sample, "-- old a.go --", "-- new --", 1),
	} {
		if m, err := parse("name", text); err == nil {
			t.Errorf("%s: got %+v", name, m)
		}
	}
}

func TestFailedSeed(t *testing.T) {
	for text, want := range map[string]int{
		"seed 7 at step 3":              7,
		"seed 99 of 100, seed=6: wrong": 6,
		"SEED0=5\nseed: 8":              8,
		"--- FAIL: TestSeeds/seed_8":    8,
		"a panic":                       9,
	} {
		if got := failedSeed(text, 6, 4); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	out := "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/one (0.0s)\n        --- FAIL: TestA/one/x (0s)\n--- FAIL: TestAB (1s)\n--- PASS: TestC (1s)\n"
	if got := failures(out); !slices.Equal(got, []string{"TestA/one/x", "TestAB"}) {
		t.Errorf("got %q", got)
	}
}

func TestRow(t *testing.T) {
	m := &mutant{name: "a", words: "what is wrong"}
	for _, c := range []struct {
		outcome
		want string
	}{
		{outcome{tests: []string{"TestA", "TestB", "TestC"}}, "| a | what is wrong | TestA, TestB and 1 more | - |"},
		{outcome{ran: true, seed: 12, tried: 12}, "| a | what is wrong | the simulation | 12 |"},
		{outcome{tests: []string{"TestA"}, ran: true, seed: 3, tried: 3}, "| a | what is wrong | TestA; the simulation | 3 |"},
		{outcome{tests: []string{"TestA"}, ran: true, tried: 300}, "| a | what is wrong | TestA | not in 300 |"},
		{outcome{ran: true, tried: 300}, "| a | what is wrong | **nothing** | not in 300 |"},
	} {
		c.mutant = m
		if got := c.row(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if err := missed([]outcome{{mutant: m, ran: true, tried: 300}}); err == nil || !strings.Contains(err.Error(), "a") {
		t.Errorf("got %v", err)
	}
}

// The page has a row for each mutant, in the order of their names, and every mutant was caught.
func TestPage(t *testing.T) {
	mutants, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "mutants.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "|---|---|---|---|\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if len(rows) != len(mutants) {
		t.Errorf("%d rows for %d mutants", len(rows), len(mutants))
	}
	sim := 0
	for i, row := range rows[:min(len(rows), len(mutants))] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 4 || cells[0] != mutants[i].name || cells[1] != mutants[i].words || cells[2] == "" || strings.Contains(cells[2], "nothing") {
			t.Errorf("row of %s: %s", mutants[i].name, row)
		}
		if strings.Contains(row, simulated) {
			sim++
		}
	}
	if want := fmt.Sprintf("All %d were caught, %d of them by the simulation.", len(mutants), sim); !strings.Contains(string(page), want) {
		t.Errorf("the page does not say: %s", want)
	}
}
