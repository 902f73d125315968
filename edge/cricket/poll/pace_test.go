package poll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/store"
)

// leagueRow writes a league to its table.
func (r *rig) leagueRow(id string, active, marquee bool) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		read := reference.NewReadings()
		all := read.SetLeagues(reference.LeagueRecord{LeagueID: id, Name: "League " + id, Code: "L" + id, Active: active})
		if err := read.LeagueRows.SettleIn(tx, all); err != nil {
			return err
		}
		_, err := reference.Leagues{}.Patch(tx, id, reference.LeaguePatch{Marquee: &marquee})
		return err
	})
}

// The matches in the live list decide how often it is read, and whether with balls.
func TestPaceOfTheList(t *testing.T) {
	on := func(status cricket.Status, leagues ...int64) func(time.Time) []cricket.Snapshot {
		return func(time.Time) (all []cricket.Snapshot) {
			for i, league := range leagues {
				all = append(all, match(i+1, league, status, 30))
			}
			return all
		}
	}
	for name, tt := range map[string]struct {
		list    func(time.Time) []cricket.Snapshot
		marquee string
		soon    bool // a match starts in half an hour
		balls   time.Duration
		without time.Duration
	}{
		"nothing known":                 {balls: 30 * time.Second},
		"one about to start":            {soon: true, balls: 5 * time.Second},
		"one live":                      {list: on("1st Innings", 3), balls: 2500 * time.Millisecond},
		"four live":                     {list: on("1st Innings", 3, 4, 5, 6), balls: 2500 * time.Millisecond},
		"five live":                     {list: on("1st Innings", 3, 4, 5, 6, 7), without: 5 * time.Second},
		"innings break":                 {list: on("Innings Break", 3), balls: 10 * time.Second},
		"lunch":                         {list: on("Lunch", 3), balls: 10 * time.Second},
		"rain":                          {list: on("Int.", 3, 4), balls: 10 * time.Second},
		"close of play":                 {list: on("Stump Day 1", 3), balls: time.Minute},
		"marquee among many":            {list: on("1st Innings", 3, 4, 5, 6, 7, 8), marquee: "7", balls: 2500 * time.Millisecond},
		"marquee not on":                {list: on("1st Innings", 3, 4), marquee: "9", without: 5 * time.Second},
		"marquee not on, others pause":  {list: on("Tea Break", 3, 4), marquee: "9", without: 10 * time.Second},
		"marquee not on, close of play": {list: on("Stump Day 3", 3, 4), marquee: "9", without: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.feed.list = tt.list
			if tt.marquee != "" {
				r.leagueRow(tt.marquee, true, true)
			}
			if tt.soon {
				r.feed.fixtures = func(time.Time) []cricket.Snapshot {
					s := match(1, 3, "NS", 0)
					s.StartsAt = midday().Add(30 * time.Minute)
					return []cricket.Snapshot{s}
				}
				r.feed.fixture = func(string, time.Time) (cricket.Snapshot, error) { return r.feed.fixtures(midday())[0], nil }
			}
			r.run(8 * time.Minute)
			for what, want := range map[string]time.Duration{"list with balls": tt.balls, "list": tt.without} {
				got := gaps(r.feed.asked(what), 2*time.Minute)
				if want == 0 && len(got) > 0 {
					t.Errorf("%s: called %d times", what, len(got))
				}
				for _, gap := range got {
					if gap != want {
						t.Fatalf("%s: every %v, want %s", what, got, want)
					}
				}
				if want != 0 && len(got) < int(3*time.Minute/want) {
					t.Errorf("%s: called %d times", what, len(got))
				}
			}
		})
	}
}

const marqueePace = 2500 * time.Millisecond

// While a marquee match is live, the other matches are ticked from its answers too, every 5 s.
func TestMarqueeAnswersServeTheOthers(t *testing.T) {
	r := newRig(t)
	r.leagueRow("7", true, true)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		runs := int(now.Sub(midday()) / marqueePace) // something is new in every answer
		return []cricket.Snapshot{match(1, 7, "1st Innings", runs), match(2, 3, "1st Innings", runs)}
	}
	r.run(4 * time.Minute)
	if n := len(r.feed.asked("list")); n > 1 {
		t.Errorf("the list was read without balls %d times", n)
	}
	for id, least := range map[string]time.Duration{"1": marqueePace, "2": 5 * time.Second} {
		got := gaps(r.ticks.at[id], time.Minute)
		fewest := time.Hour
		for _, gap := range got {
			fewest = min(fewest, gap)
		}
		if fewest != least || len(got) < 15 {
			t.Errorf("match %s was ticked every %v", id, got)
		}
	}
}

// A list that becomes too long for balls is read without them, and its matches are still accepted.
func TestListTooLongForBalls(t *testing.T) {
	r := newRig(t)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		runs := int(now.Sub(midday()) / time.Second)
		s := match(1, 3, "1st Innings", runs)
		if runs < 60 {
			s.Balls = []cricket.Ball{{ID: 1, Innings: 1, Label: "0.1"}}
			return []cricket.Snapshot{s}
		}
		list := []cricket.Snapshot{s}
		for id := range 4 {
			list = append(list, match(2+id, 3, "1st Innings", runs))
		}
		return list
	}
	r.run(70 * time.Second)
	if n := len(r.feed.asked("list")); n == 0 {
		t.Fatal("the list was never read without balls")
	}
	st, _ := r.state("1")
	if st.Doubts != 0 || st.PreviousBallID != 1 || st.PreviousScore[0].Runs < 61 {
		t.Errorf("%d snapshots are doubted, the score is %+v after ball %d", st.Doubts, st.PreviousScore, st.PreviousBallID)
	}
}

// Intervals become longer when too little of the hour's budget is left beside the reserve.
func TestBudgetStretches(t *testing.T) {
	for _, tt := range []struct {
		budget sportmonks.Budget
		want   time.Duration
	}{
		{sportmonks.Budget{}, 2500 * time.Millisecond},
		{sportmonks.Budget{Limit: 2000, Remaining: 2000, Reserve: 200}, 2500 * time.Millisecond},
		{sportmonks.Budget{Limit: 1000, Remaining: 1000, Reserve: 100}, 4 * time.Second},
		{sportmonks.Budget{Limit: 2000, Remaining: 320, Reserve: 200, Reset: midday().Add(time.Hour)}, 30 * time.Second},
		{sportmonks.Budget{Limit: 2000, Remaining: 200, Reserve: 200, Reset: midday().Add(10 * time.Minute), Next: midday().Add(10 * time.Minute)}, 10 * time.Minute},
		{sportmonks.Budget{Limit: 2000, Remaining: 0, Reserve: 200, Reset: midday().Add(time.Hour), Next: midday().Add(5 * time.Minute)}, 5 * time.Minute},
	} {
		t.Run(fmt.Sprint(tt.want), func(t *testing.T) {
			r := newRig(t)
			r.config.Budgets = r.feed
			r.feed.budgets = map[sportmonks.Endpoint]sportmonks.Budget{sportmonks.Livescores: tt.budget}
			r.feed.list = func(time.Time) []cricket.Snapshot { return []cricket.Snapshot{match(1, 3, "1st Innings", 30)} }
			r.run(max(2*time.Minute, tt.want+time.Second))
			at := r.feed.asked("list with balls")
			if len(at) < 2 {
				t.Fatalf("called at %v", at)
			}
			// Only the first interval: for later ones less of the hour is left.
			if diff := cmp.Diff(tt.want, at[1]-at[0]); diff != "" && !tt.budget.Reset.IsZero() {
				t.Errorf("called at %v", at[:2])
			}
			if tt.budget.Reset.IsZero() {
				for _, gap := range gaps(at, time.Minute) {
					if gap != tt.want {
						t.Fatalf("every %v, want %s", gap, tt.want)
					}
				}
			}
		})
	}
}
