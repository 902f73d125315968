package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The figures beside the sheets are from this program; some of them were also counted by hand.
func TestRecount(t *testing.T) {
	const dir = "../../../edge/hacktracker/testdata/sheets"
	sheets, err := filepath.Glob(filepath.Join(dir, "*.sheet"))
	if err != nil || len(sheets) != 3 {
		t.Fatalf("%v, %v", sheets, err)
	}
	all := ""
	for _, name := range sheets {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := recount(&b, string(raw)); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(name, ".sheet") + ".golden")
		if err != nil || string(want) != b.String() {
			t.Errorf("%s:\n%s, want\n%s (%v)", name, &b, want, err)
		}
		all += b.String()
	}
	for _, hand := range []string{
		"eve 3 1 1 0 0 1 4 1 0 0 1 0 4 1.000 .667 4.000 4.667 3.000 .000\n", // BB, HR/3, a sacrifice fly
		"sue 5 4 1 0 1 0 2 0 0 0 0 1 3 .250 .250 .750 1.000 .500 .250\n",    // FO, DP, 3B/2, a bunt, FC
		"line 5 2 0 2\n", "team 15 11 0 0 0 0 1 2 1 3 1 0 0 .000 .200 .000 .200 .000 .000\n",
	} {
		if !strings.Contains(all, hand) {
			t.Errorf("no %s in\n%s", hand, all)
		}
	}
	for _, bad := range []string{"lineup a\na:X", "lineup a\nb:1B", "lineup a\nb@2:1B"} {
		if recount(&strings.Builder{}, bad) == nil {
			t.Errorf("%q is counted", bad)
		}
	}
}
