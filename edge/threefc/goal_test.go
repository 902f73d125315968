package threefc

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
)

// After any sequence of goal changes the tallies equal a recount of the timeline, the state's revision has grown by one per change, the
// audit has one row per change, and a second export changes nothing.
func TestAnyOrderIsARecount(t *testing.T) {
	r := newRig(t)
	r.league()
	game, seq := 0, uint64(0)
	rapid.Check(t, func(rt *rapid.T) {
		game++
		id := "p" + time.Duration(game).String()
		r.game(id)
		r.start(id, 1)
		var events []string
		changes := 0
		who := Corrector{Actor: boss}
		pick := func() Scored {
			return scored(rapid.SampledFrom(TeamIDs()).Draw(rt, "by"), rapid.SampledFrom(TeamIDs()).Draw(rt, "against"))
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			r.now = r.now.Add(time.Duration(rapid.IntRange(0, 90).Draw(rt, "pause")) * time.Second)
			do := rapid.IntRange(0, 3).Draw(rt, "do")
			if len(events) == 0 {
				do = 0
			}
			one := func() int { return rapid.IntRange(0, len(events)-1).Draw(rt, "goal") }
			changes++
			switch do {
			case 0:
				g := pick()
				events = append(events, r.must(func(tx *store.Tx) (Change, error) {
					return r.CreateGoal(tx, id, NewGoal{Scored: g, At: r.now, Actor: boss}, &IDs{})
				}).IDs["event"])
			case 1:
				g, event := pick(), events[one()]
				r.must(func(tx *store.Tx) (Change, error) {
					return r.UpdateGoal(tx, id, event, who, func(s *Scored) { *s = g }, &IDs{})
				})
			case 2:
				i := one()
				r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGoal(tx, id, events[i], who, &IDs{}) })
				events = slices.Delete(events, i, i+1)
			case 3:
				b := r.board(id)
				last := b.Goals[len(b.Goals)-1].EventID
				r.must(func(tx *store.Tx) (Change, error) { return r.UndoLast(tx, id, last, who, &IDs{}) })
				events = slices.DeleteFunc(events, func(e string) bool { return e == last })
			}
		}
		seq = r.export(seq)
		r.exported(rt, id, len(events), changes)
		before := r.store.Seq()
		if seq = r.export(seq); r.store.Seq() != before {
			rt.Errorf("a second export wrote %d records", r.store.Seq()-before)
		}
	})
}

// exported compares a game's derived rows with its goals.
func (r *rig) exported(t rapid.TB, game string, goals, changes int) {
	t.Helper()
	b := r.board(game)
	if len(b.Goals) != goals {
		t.Errorf("%d goals, want %d", len(b.Goals), goals)
	}
	recount := Tallies(b.Goals)
	for _, team := range TeamIDs() {
		row, err := decode[GameTeam](r.row(gameTeamKey(game, team)))
		if err != nil || (Tally{row.Scored, row.Conceded}) != recount[team] {
			t.Errorf("%s: row %+v %v, recount %+v", team, row, err, recount[team])
		}
	}
	state, err := decode[goalState](r.row(stateKey(game)))
	if err != nil || state.Revision != changes {
		t.Errorf("state %+v %v, want revision %d", state, err, changes)
	}
	if goals > 0 && *state.LatestEventID != b.Goals[goals-1].EventID || goals == 0 && state.LatestEventID != nil {
		t.Errorf("latest %v of %d goals", state.LatestEventID, goals)
	}
	if audits := view(r, func(tx *store.Tx) ([]Audit, error) { return read[Audit](r, tx, pkGame+game, skAudit) }); len(audits) != changes {
		t.Errorf("%d audit rows for %d changes", len(audits), changes)
	}
}

// Invalid goals are refused.
func TestGoalIsRefused(t *testing.T) {
	r := newRig(t)
	r.league()
	create := func(g Scored) error {
		_, err := r.try(func(tx *store.Tx) (Change, error) {
			return r.CreateGoal(tx, "g", NewGoal{Scored: g, At: r.now, Actor: boss}, &IDs{})
		})
		return err
	}
	if err := create(scored("red", "blue")); codeOf(err) != "no_active_third" {
		t.Errorf("before the start: %v", err)
	}
	r.start("g", 1)
	red, green := "red", "green"
	for code, change := range map[string]func(g *Scored){
		"invalid_team":                 func(g *Scored) { g.ConcedingTeamID = green },
		"own_goal_scoring_team":        func(g *Scored) { g.OwnGoal = true },
		"scoring_team_required":        func(g *Scored) { g.ScoringTeamID = nil },
		"same_team_goal":               func(g *Scored) { g.ConcedingTeamID = red },
		"invalid_assists":              func(g *Scored) { g.AssistPlayerIDs = []string{"r1"} },
		"scorer_not_rostered":          func(g *Scored) { g.ScorerPlayerID = "x1" },
		"scorer_not_on_scoring_team":   func(g *Scored) { g.ScorerPlayerID = "y1" },
		"scorer_not_on_conceding_team": func(g *Scored) { g.ScoringTeamID, g.OwnGoal = nil, true },
		"assist_not_rostered":          func(g *Scored) { g.AssistPlayerIDs = []string{"x1"} },
		"":                             func(g *Scored) { g.AssistPlayerIDs = []string{"r2", "y1", "b1"} },
	} {
		g := scored("red", "blue")
		change(&g)
		if err := create(g); codeOf(err) != code {
			t.Errorf("want %q: %v", code, err)
		}
	}
	for _, assists := range [][]string{{"r2", "r2"}, {"r2", "b1", "b2", "y1"}} {
		g := scored("red", "blue")
		g.AssistPlayerIDs = assists
		if err := create(g); codeOf(err) != "invalid_assists" {
			t.Errorf("%v: %v", assists, err)
		}
	}
}

// A late tap counts at its own time, in the third that was running then; a tap that fits no third is refused.
func TestTapsMoment(t *testing.T) {
	r := newRig(t)
	r.league()
	start := r.now
	tap := func(after time.Duration) (string, error) {
		c, err := r.try(func(tx *store.Tx) (Change, error) {
			return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: start.Add(after), Actor: boss}, &IDs{})
		})
		if err != nil {
			return "", err
		}
		for _, g := range r.board("g").Goals {
			if g.EventID == c.IDs["event"] {
				return string('0'+rune(g.Third)) + " " + g.DisplayTime, nil
			}
		}
		return "", nil
	}
	check := func(after time.Duration, want string) {
		t.Helper()
		got, err := tap(after)
		if err != nil {
			got = codeOf(err)
		}
		if got != want {
			t.Errorf("%v after the start: %s, want %s (%v)", after, got, want, err)
		}
	}
	r.start("g", 1)
	r.now = start.Add(21 * time.Minute)
	r.end("g", 1)
	r.now = start.Add(25 * time.Minute)
	r.start("g", 2)
	r.now = start.Add(41 * time.Minute)
	r.end("g", 2)
	r.now = start.Add(42 * time.Minute)
	r.start("g", 3)
	r.now = start.Add(43 * time.Minute)
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{5*time.Minute + 7*time.Second, "1 05:07"}, {20*time.Minute + 30*time.Second, "1 20+01"}, {-time.Minute, "1 00:00"}, {24 * time.Minute, "2 00:00"},
		{30 * time.Minute, "2 05:00"}, {40*time.Minute + 30*time.Second, "2 15:30"}, {41*time.Minute + 30*time.Second, "3 00:00"}, {43 * time.Minute, "3 01:00"}, {-5 * time.Minute, "occurred_at"}, {22 * time.Minute, "occurred_at"},
	} {
		check(tt.after, tt.want)
	}
	r.now = start.Add(44 * time.Minute)
	r.end("g", 3)
	r.now = r.now.Add(200 * time.Millisecond)
	check(43*time.Minute+59*time.Second+900*time.Millisecond, "3 01:59") // 300 ms old, from before the finish
	check(44*time.Minute+100*time.Millisecond, "occurred_at")
	check(44*time.Minute+200*time.Millisecond, "no_active_third")
}

// If the clock goes back a little between start and finish, the finish is accepted, and the third has length zero.
func TestClockThatGoesBack(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	began := r.now
	r.now = began.Add(-time.Second)
	r.end("g", 1)
	if th := r.board("g").third(1); *th.FinishedAt != *th.StartedAt {
		t.Errorf("from %s to %s", *th.StartedAt, *th.FinishedAt)
	}
	r.now = began
	r.start("g", 2)
	r.now = began.Add(-lateStart - time.Second)
	if _, err := r.try(func(tx *store.Tx) (Change, error) { return r.FinishThird(tx, "g", 2, r.now) }); codeOf(err) != "occurred_at" {
		t.Errorf("long before its start: %v", err)
	}
}

// A correction with a key is recorded as in the original, and takes effect once, even if another program made it.
func TestCorrectionOnce(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	event := r.goal("g", "red", "blue")
	undo := func(tx *store.Tx) (Change, error) {
		return r.UndoLast(tx, "g", event, Corrector{Actor: boss}, &IDs{Seed: boss + ":POST:/v1/games/g/goals/undo-last\nk", Hash: "h"})
	}
	first := r.must(undo)
	if again := r.must(undo); len(again.Writes) > 0 || again.IDs["audit"] != first.IDs["audit"] {
		t.Errorf("again: %+v, first %v", again, first.IDs)
	}
	id := "goal-correction-idem-" + hashText(boss + ":POST:/v1/games/g/goals/undo-last:k")[:32]
	row, err := decode[operation](r.row(key("GAME#g", "GOAL_CORRECTION#"+id)))
	if err != nil || row.OperationID != id || row.EventID != event || row.Action != "goal_undo_last" || row.RequestHash != "h" || row.Result.Audit.Before.EventID != event {
		t.Errorf("%+v %v", row, err)
	}
	other := r.goal("g", "red", "blue")
	if _, err := r.try(func(tx *store.Tx) (Change, error) {
		return r.UndoLast(tx, "g", other, Corrector{Actor: boss}, &IDs{Seed: boss + ":POST:/v1/games/g/goals/undo-last\nk"})
	}); codeOf(err) != "idempotency_conflict" {
		t.Errorf("for another goal: %v", err)
	}
}

// After the finish only an admin may correct goals, and the result follows.
func TestCorrectionAfterTheEnd(t *testing.T) {
	r := newRig(t)
	r.league()
	r.play("g", [2]string{"red", "blue"})
	b := r.board("g")
	if *b.Result.WinnerTeamID != "red" || b.Status != Finished {
		t.Fatalf("%+v", b.Result)
	}
	seq := r.store.Seq()
	first := b.Goals[0].EventID
	swap := func(s *Scored) { *s = scored("yellow", "red") }
	try := func(who Corrector) error {
		for _, g := range b.Goals {
			if _, err := r.try(func(tx *store.Tx) (Change, error) { return r.UpdateGoal(tx, "g", g.EventID, who, swap, &IDs{}) }); err != nil {
				return err
			}
		}
		return nil
	}
	if err := try(Corrector{Actor: "scorer"}); codeOf(err) != "game_finished" {
		t.Errorf("a scorer: %v", err)
	}
	if _, err := r.try(func(tx *store.Tx) (Change, error) { return r.DeleteGoal(tx, "g", first, Corrector{}, &IDs{}) }); codeOf(err) != "game_finished" {
		t.Errorf("a scorer's delete: %v", err)
	}
	if err := try(Corrector{Actor: boss, Admin: true}); err != nil {
		t.Fatal(err)
	}
	if got := r.board("g").Result; *got.WinnerTeamID != "yellow" {
		t.Errorf("%+v", got)
	}
	r.export(seq)
	row, err := decode[Game](r.row(gameKey("g")))
	if err != nil || *row.Result.WinnerTeamID != "yellow" {
		t.Errorf("row: %+v %v", row.Result, err)
	}
}
