package operator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/lease"
)

// The page has the node's figures, a line per application, and the problems that the node found.
func TestStatusPage(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	well := func() *State {
		return &State{
			At: at, Version: "1.2", Streams: Streams{Open: 3, Limit: 100},
			Node: NodeStatus{
				UptimeSeconds: 11_520, MemoryBytes: 70_100_000, Disk: &store.DiskState{File: 12_000_000, Used: 3_400_000, Grow: 20_100_000_000},
				Chores:      store.ChoreStats{Verify: store.ScrubStats{Ended: at.Add(-time.Minute), Items: 1}},
				Commits:     store.CommitStats{LastMillis: 5.5},
				DynamoDB:    &EndpointStatus{Listen: "127.0.0.1:8000"},
				Mail:        &MailStatus{Waiting: 2, GivenUp: 1},
				Certificate: &certs.State{Kind: "files", NotAfter: at, Names: []string{"scores.example"}},
			},
			Applications: []AppStatus{{Title: "Counter", Requests: 7, Failed: 1}, {Title: "Tally", Problems: 2}, {Title: "Toll", NotReady: "no barrier", Problems: 1}},
		}
	}
	s := well()
	s.DeriveProblems(nil, nil)
	if len(s.Problems) > 0 {
		t.Error(s.Problems)
	}
	text := fmt.Sprint(s.Page().Tables)
	for _, want := range []string{
		"[Version 1.2]", "[Running for 3 h 12 min]", "[Memory 70.1 MB]", "[Database 12.0 MB, 3.4 MB of it used]", "[Room to grow 20.1 GB]",
		"[Items on disk 1 item verified at 11:59:00, 0 damaged]", "[Last write to disk 5.5 ms]", "[Streams 3 of 100]", "[DynamoDB API 127.0.0.1:8000]",
		"[Mail 2 messages to send, 1 given up in 24 hours]", "[Certificate files, until 2026-06-01, for scores.example]",
		"[Counter ok 7 1]", "[Tally 2 problems, see above 0 0]", "[Toll not ready: no barrier 0 0]", "No cloud is configured",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	s.Node.Disk.Grow = -1
	if s.DeriveProblems(nil, nil); len(s.Problems) > 0 || strings.Contains(fmt.Sprint(s.Page().Tables), "Room") {
		t.Error("unknown room to grow is shown:", s.Problems)
	}
	for want, change := range map[string]func(s *State){
		"The disk is almost full: the database can grow by only 80.0 MB. Free some space.": func(s *State) { s.Node.Disk.Grow = 80_000_000 },
		"Damaged on disk: 3 items, index entries or journal records (counts, journal). Run touchline check, restore the last backup, and check the disk.": func(s *State) {
			s.Node.Chores.Verify.Damaged, s.Node.Chores.Verify.Where = 3, []string{"counts", "journal"}
		},
		"The locks table locks went back to an earlier state: a and 1 other lock, first seen at 11:00:00. Nothing is lost: the next holder of a lock ranks above all earlier ones, and late writes of former holders are refused. If somebody restored the table, no action is needed. Otherwise find out what else writes to it.": func(s *State) {
			s.Node.FallenLocks = []FallenLocks{{Table: "locks", Locks: []lease.Fallen{{Key: "a", At: at}, {Key: "b", At: at.Add(-time.Hour)}}}}
		},
		"More than 2 stored rows cannot be read and are left out of all lists and counts: see below which, and correct or delete them in the table.": func(s *State) {
			s.Node.LeftOut.Rows, s.Node.LeftOut.More = 2, true
		},
		"1 change could not be worked on, so that what depends on them may be out of date: see below. They are tried again from time to time.": func(s *State) {
			s.Node.LeftOut.Records = 1
		},
		"90 of 100 streams are open: new readers will be turned away (http.max_streams).": func(s *State) { s.Streams.Open = 90 },
	} {
		s := well()
		change(s)
		if s.DeriveProblems(nil, nil); !slices.Equal(s.Problems, []string{want}) {
			t.Errorf("want %q, got %q", want, s.Problems)
		}
	}
	s = well()
	s.DeriveProblems([]Check{{Name: "store", Err: errors.New("latched")}, {Name: "consumer a/b", App: "a", Warning: "it has failed 1 time"}}, []string{"Theirs."})
	if want := []string{"This node is not ready (store): latched.", "This node's consumer a/b: it has failed 1 time.", "Theirs."}; !slices.Equal(s.Problems, want) {
		t.Error(s.Problems)
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{0.9: "0 s", 119: "119 s", 120: "2 min", 7199: "119 min", 7200: "2 h 0 min", 172_799: "47 h 59 min", 180_000: "2 d 2 h"} {
		if got := Span(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}

// Rows that are left out are listed, a limited number of them, each with the reason. Without any there is no list.
func TestRowsLeftOutOnThePage(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s := &State{At: at, Node: NodeStatus{LeftOut: LeftOut{Rows: 1, Records: 2, Shown: []LeftOutRow{
		{Table: "games", Row: "GAME#g METADATA", Why: "attribute data is not JSON", Since: at},
		{Table: "games", Row: "GAME#h METADATA", Consumer: "threefc/export", Why: "refused", Since: at},
	}}}}
	text := fmt.Sprint(s.Page().Tables)
	for _, want := range []string{
		"[games GAME#g METADATA attribute data is not JSON 12:00:00]",
		"[games GAME#h METADATA the consumer threefc/export cannot handle its change: refused 12:00:00]", "[ and 1 more  ]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if text := fmt.Sprint((&State{At: at}).Page().Tables); strings.Contains(text, "left out") {
		t.Error(text)
	}
}
