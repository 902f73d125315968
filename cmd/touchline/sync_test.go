package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/operator"
)

// The status must not claim that writes to a stopped table are in flight, and shows which they are.
func TestSyncTextOfStoppedTables(t *testing.T) {
	for status, want := range map[string][]string{
		`{"configured": true, "state": "behind", "waiting": 5, "alarms": ["Nothing is sent."], "tables": [
			{"table": "cricket-devices", "waiting": 3, "stopped": "its keys in the cloud differ"}, {"table": "cricket-teams", "waiting": 2}]}`: {
			"\n! Nothing is sent.\n", "  behind: 5 writes waiting\n", "\ncricket-devices  3       its keys in the cloud differ\n", "\ncricket-teams    2       –\n",
		},
		`{"configured": true, "state": "behind", "waiting": 2, "tables": [
			{"table": "cricket-devices", "waiting": 0}, {"table": "cricket-teams", "waiting": 2}]}`: {
			"  behind: 2 writes waiting\n", "\ncricket-teams  2       –\n",
		},
	} {
		var st operator.SyncStatus
		if err := json.Unmarshal([]byte(status), &st); err != nil {
			t.Fatal(err)
		}
		got := syncText(&st)
		for _, want := range want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
		if strings.Contains(got, "in flight") || strings.Contains(got, "Parked") {
			t.Errorf("a false claim, or an empty table, is in\n%s", got)
		}
	}
}
