package cricket_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
)

// played is the outcome of the rules for a recorded match.
type played struct {
	state  cricket.State
	events []cricket.Event
	last   cricket.Outcome
}

// plays holds the recorded matches that were played, each by the first test that needed it. Tests must not change them.
var plays sync.Map

// play runs a recorded match through feed, client and rules, with a poll at every change of the feed and another five seconds
// later.
func play(t *testing.T, id string, balls bool) played {
	t.Helper()
	once, _ := plays.LoadOrStore(fmt.Sprint(id, balls), sync.OnceValue(func() played { return playOnce(t, id, balls) }))
	return once.(func() played)()
}

func playOnce(t *testing.T, id string, balls bool) played {
	t.Helper()
	m, err := replay.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	now := clock.NewStepped(m.Start())
	defer now.Join()()
	srv := httptest.NewServer(replay.NewFeed(m, now, "demo", 0))
	defer srv.Close()
	feed, err := sportmonks.New(sportmonks.Config{BaseURL: srv.URL + "/api/v2.0", Token: "demo", Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	p := played{}
	poll := func() {
		r, err := feed.Fixture(t.Context(), id, balls)
		if err != nil {
			t.Fatal(err)
		}
		p.last = cricket.Step(p.state, &r.Snapshots[0], cricket.Options{}, now.Now())
		p.state = p.last.State
		p.events = append(p.events, p.last.Events...)
	}
	for at, more := m.Start(), true; more; at, more = m.NextChange(at) {
		if gap := at.Sub(now.Now()); gap > 0 {
			for gap > 4*time.Minute { // the poller does not pause for longer
				_ = clock.Sleep(t.Context(), now, 4*time.Minute)
				poll()
				gap = at.Sub(now.Now())
			}
			_ = clock.Sleep(t.Context(), now, gap)
		}
		poll()
		_ = clock.Sleep(t.Context(), now, 5*time.Second)
		poll()
	}
	for range 4 { // until the rules have ended the match
		_ = clock.Sleep(t.Context(), now, 4*time.Minute)
		poll()
	}
	return p
}

// expected is the result of an independent count over the record of a match (internal/tools/count).
type expected struct {
	Innings []struct {
		Team    string
		Runs    int
		Wickets int
		Overs   string
	}
	Winner  string
	Events  map[cricket.EventType]int
	Wickets map[string]int // by kind
	Ends    []string       // causes of the ends of innings
}

func readExpected(t *testing.T) map[string]expected {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("replay", "testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expected
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// countedAs returns the type under which the count has an event, and false for the types that it does not count.
func countedAs(t cricket.EventType) (cricket.EventType, bool) {
	switch t {
	case cricket.EventResult, cricket.EventWicket, cricket.EventFour, cricket.EventSix, cricket.EventConsecutiveSixes, cricket.EventMaiden,
		cricket.EventHatTrick, cricket.EventFiveFor, cricket.EventTenFor, cricket.EventFifty, cricket.EventHundred,
		cricket.EventHundred50, cricket.EventTwoHundred, cricket.Event250, cricket.Event300, cricket.EventInningsEnd,
		cricket.EventSuperOver, cricket.EventTie, cricket.EventDraw, cricket.EventNoResult, cricket.EventAbandoned:
		return t, true
	default:
		return "", false
	}
}

// agree compares the outcome of a match with the count.
func agree(t *testing.T, p played, want expected) {
	t.Helper()
	got := map[cricket.EventType]int{}
	for _, e := range p.events {
		if kind, ok := countedAs(e.Type); ok {
			got[kind]++
		}
	}
	if diff := cmp.Diff(want.Events, got); diff != "" {
		t.Errorf("events (-count +rules):\n%s", diff)
	}
	names := map[int64]string{}
	for _, team := range p.last.Display.Teams {
		names[team.ID] = team.Name
	}
	if len(p.last.Display.Innings) != len(want.Innings) {
		t.Fatalf("%d innings, want %d", len(p.last.Display.Innings), len(want.Innings))
	}
	for i, in := range p.last.Display.Innings {
		w := want.Innings[i]
		if names[in.TeamID] != w.Team || in.Runs != w.Runs || in.Wickets != w.Wickets || in.Overs != w.Overs {
			t.Errorf("innings %d: %s %d/%d (%s), want %+v", in.No, names[in.TeamID], in.Runs, in.Wickets, in.Overs, w)
		}
	}
	if !strings.HasPrefix(p.state.Result, want.Winner) {
		t.Errorf("result %q does not name the winner %s", p.state.Result, want.Winner)
	}
	if p.state.Status != cricket.ActiveEnded {
		t.Errorf("the match is %s at the end", p.state.Status)
	}
}

// The rules agree with the count in a match with a hat-trick and one with five-ball overs; without -short also in one tied and
// won on boundaries and one with a forfeited innings. The long tests play all matches.
func TestRecordedMatches(t *testing.T) {
	want := readExpected(t)
	matches := []string{"1192877", "1252718", "1144530", "1244270"} // one of each format
	if testing.Short() {
		matches = matches[:2]
	}
	for _, id := range matches {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			agree(t, play(t, id, true), want[id])
		})
	}
}

// Without balls the rules agree with the count too.
func TestRecordedMatchWithoutBalls(t *testing.T) {
	id := "1144530"
	if testing.Short() {
		id = "947101"
	}
	agree(t, play(t, id, false), readExpected(t)[id])
}
