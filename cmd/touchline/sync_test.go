package main

import (
	"encoding/json"
	"testing"

	"github.com/touchline/touchline/httpapi/operator"
)

// The first line of a status must not claim that writes to a stopped table are in flight.
func TestSyncLineOfStoppedTables(t *testing.T) {
	for status, want := range map[string]string{
		`{"state": "behind", "waiting": 5, "tables": [
			{"table": "cricket-devices", "waiting": 3, "stopped": "its keys in the cloud differ"}, {"table": "cricket-teams", "waiting": 2}]}`: "behind: 5 writes waiting, 3 of them for stopped tables",
		`{"state": "behind", "waiting": 2, "tables": [
			{"table": "cricket-devices", "waiting": 0, "stopped": "its keys in the cloud differ"}, {"table": "cricket-teams", "waiting": 2}]}`: "behind: 2 writes in flight",
	} {
		var st operator.SyncStatus
		if err := json.Unmarshal([]byte(status), &st); err != nil {
			t.Fatal(err)
		}
		if got := syncLine(&st); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
