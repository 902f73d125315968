//go:build long

package cricket_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
)

// finalReading returns the feed's snapshot of a recorded match after its end.
func finalReading(t *testing.T, id string, balls bool) *cricket.Snapshot {
	t.Helper()
	m, err := replay.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	at := clock.NewStepped(m.End())
	srv := httptest.NewServer(replay.NewFeed(m, at, "demo", 0))
	defer srv.Close()
	feed, err := sportmonks.New(sportmonks.Config{BaseURL: srv.URL + "/api/v2.0", Token: "demo", Clock: at})
	if err != nil {
		t.Fatal(err)
	}
	if err := feed.LoadScores(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := feed.Fixture(t.Context(), id, balls)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Snapshots[0]
}

// Detection in the last snapshot finds as many events of each type as the independent count, and the same wickets by kind and
// innings ends by cause.
func TestDetectAgainstCount(t *testing.T) {
	all := readExpected(t)
	sums := map[cricket.EventType]int{}
	var hatTricks []string
	for _, info := range replay.List() {
		want := all[info.ID]
		got, wickets, ends := map[cricket.EventType]int{}, map[string]int{}, []string{}
		for _, c := range cricket.Detect(nil, finalReading(t, info.ID, true)) {
			kind, counted := countedAs(c.Type)
			if !counted {
				continue
			}
			got[kind]++
			sums[kind]++
			switch c.Type {
			case cricket.EventWicket:
				wickets[c.Detail]++
			case cricket.EventInningsEnd:
				ends = append(ends, c.Detail)
			case cricket.EventHatTrick:
				hatTricks = append(hatTricks, info.ID)
			default:
			}
		}
		if diff := cmp.Diff(want.Events, got); diff != "" {
			t.Errorf("%s: events (-count +rules):\n%s", info.ID, diff)
		}
		if diff := cmp.Diff(want.Wickets, wickets, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: wickets (-count +rules):\n%s", info.ID, diff)
		}
		if diff := cmp.Diff(want.Ends, ends, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: innings ends (-count +rules):\n%s", info.ID, diff)
		}
	}
	if diff := cmp.Diff([]string{"656483", "1192877", "1345428"}, hatTricks); diff != "" {
		t.Errorf("hat-tricks (-want +got):\n%s", diff)
	}
	for kind, n := range map[cricket.EventType]int{
		cricket.EventWicket: 725, cricket.EventFour: 2111, cricket.EventSix: 377, cricket.EventFifty: 119,
		cricket.EventHundred: 26, cricket.EventHundred50: 4, cricket.EventTwoHundred: 2, cricket.EventFiveFor: 12,
		cricket.EventConsecutiveSixes: 5, cricket.EventMaiden: 605, cricket.EventInningsEnd: 111, cricket.EventResult: 37,
	} {
		if sums[kind] != n {
			t.Errorf("%d of %s in all matches, want %d", sums[kind], kind, n)
		}
	}
}

// fact holds what detection with and without balls must agree on.
type fact struct {
	Key, Subject, Detail string
	Type                 cricket.EventType
}

func facts(all []cricket.Candidate) []fact {
	var out []fact
	for _, c := range all {
		switch c.Type {
		case cricket.EventWicket, cricket.EventInningsEnd, cricket.EventFifty, cricket.EventHundred,
			cricket.EventHundred50, cricket.EventTwoHundred, cricket.Event250, cricket.Event300, cricket.EventFiveFor,
			cricket.EventTenFor, cricket.EventResult, cricket.EventTie, cricket.EventDraw, cricket.EventNoResult,
			cricket.EventAbandoned, cricket.EventSuperOver, cricket.EventFollowOn,
			cricket.EventDeclared, cricket.EventBowlerOnFire, cricket.EventTargetRevised, cricket.EventMatchStart:
			f := fact{c.Key, c.Subject, c.Detail, c.Type}
			if c.Type == cricket.EventBowlerOnFire {
				f.Subject = ""
			}
			if strings.HasPrefix(c.Key, "m") { // the exact runs are known only from the balls
				f.Subject, _, _ = strings.Cut(f.Subject, "+")
			}
			out = append(out, f)
		default:
		}
	}
	slices.SortFunc(out, func(a, b fact) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Detection without balls finds the same facts under the same keys, and as many fours, sixes and maidens.
func TestDetectWithoutBalls(t *testing.T) {
	for _, info := range replay.List() {
		with := cricket.Detect(nil, finalReading(t, info.ID, true))
		without := cricket.Detect(nil, finalReading(t, info.ID, false))
		if diff := cmp.Diff(facts(with), facts(without)); diff != "" {
			t.Errorf("%s (-with balls +without):\n%s", info.ID, diff)
		}
		for _, kind := range []cricket.EventType{cricket.EventFour, cricket.EventSix, cricket.EventMaiden} {
			if a, b := count(with, kind), count(without, kind); a != b {
				t.Errorf("%s: %d of %s with balls, %d without", info.ID, a, kind, b)
			}
		}
	}
}

func count(all []cricket.Candidate, kind cricket.EventType) int {
	n := 0
	for i := range all {
		if all[i].Type == kind {
			n++
		}
	}
	return n
}

// No key occurs twice in one snapshot, and every event but the nineties has one. Every text is complete, and every event has a
// time.
func TestDetectKeys(t *testing.T) {
	for _, info := range replay.List() {
		for _, balls := range []bool{true, false} {
			seen := map[string]bool{}
			for _, c := range cricket.Detect(nil, finalReading(t, info.ID, balls)) {
				if c.Key == "" && c.Type != cricket.EventNineties {
					t.Errorf("%s: %s %q has no key", info.ID, c.Type, c.Text)
				}
				if c.Key != "" && seen[c.Key] {
					t.Errorf("%s: key %s twice", info.ID, c.Key)
				}
				seen[c.Key] = true
				if c.Text == "" || strings.Contains(c.Text, "#") || strings.Contains(c.Text, "?") || strings.Contains(c.Text, "  ") {
					t.Errorf("%s: %s says %q", info.ID, c.Key, c.Text)
				}
				if c.SeenAt.IsZero() {
					t.Errorf("%s: %s has no time", info.ID, c.Key)
				}
			}
		}
	}
}
