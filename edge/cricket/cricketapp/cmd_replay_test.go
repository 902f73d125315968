package cricketapp

import (
	"bytes"
	"strings"
	"testing"
)

// A report explains its keys, and why an event has no alert.
func TestReplayReport(t *testing.T) {
	r := &ReplayReport{Summary: Summary{Dropped: map[string]int{"merged": 3, "burst": 1}}, PhonesRight: true}
	r.LastWords = &LastWords{Untold: 1, Each: []string{"withdrawn: w:1:2"}}
	r.RecordDiff = &RecordDiff{False: map[string]int{"four": 2}, Each: []string{"false: four"}}
	r.Alerts = []SummaryAlert{{Key: "w:1:1", Text: "WICKET! Perera c Astle b Santner"}}
	var out bytes.Buffer
	if err := printReplay(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"last alert on each subject: 0 wrong, 0 false, 1 withdrawn though true\nwithdrawn: w:1:2\n",
		"events recorded: 0 missing, 2 false\nfalse: four\n",
		"alerts, each after the key of its event:\nw:1:1  WICKET! Perera",
		"events without an alert of their own:\nburst   1  several balls came at once\nmerged  3  another alert at the same moment",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
