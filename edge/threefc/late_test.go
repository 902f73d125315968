package threefc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// phone returns the key that a phone makes for a tap, by its own clock.
func phone(at time.Time, random *rand.Rand) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at))
	for i := 6; i < len(id); i++ {
		id[i] = byte(random.Uint32())
	}
	return id.String()
}

// Goals with keys lie in the table in the order of their taps, as other programs read them, also those of one second, whose order is that of
// their keys although the node fixes their times by requests that take longer or shorter. The second of two in a second can be undone.
func TestKeyedGoalsLieInOrder(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	random := rand.New(rand.NewPCG(1, 2))
	var tapped []string
	tap := func(at, jitter time.Duration) {
		now := r.now.Add(at)
		ids := &IDs{Seed: boss + ":POST:/v1/games/g/goals\n" + phone(now.Add(-3*time.Hour), random), Hash: "h"} // its clock is wrong
		tapped = append(tapped, r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: now.Add(jitter), Actor: boss}, ids)
		}).IDs["event"])
	}
	r.now = r.now.Add(2 * time.Minute)
	for second := range 15 {
		at := time.Duration(second)*time.Second - 30*time.Second
		tap(at+100*time.Millisecond, 300*time.Millisecond)
		tap(at+200*time.Millisecond, 0)
		tap(at+201*time.Millisecond, 100*time.Millisecond)
	}
	rows := view(r, func(tx *store.Tx) ([]Goal, error) { return read[Goal](r, tx, pkGame+"g", skGoal) })
	var lie, shown []string
	for i := range rows {
		lie = append(lie, rows[i].EventID)
	}
	for _, g := range r.board("g").Goals {
		shown = append(shown, g.EventID)
	}
	if !slices.Equal(lie, tapped) || !slices.Equal(shown, tapped) {
		t.Fatalf("tapped %v\nin the table %v\nshown %v", tapped, lie, shown)
	}
	for i, id := range slices.Backward(tapped) {
		if _, err := r.try(func(tx *store.Tx) (Change, error) {
			return r.UndoLast(tx, "g", id, Corrector{Actor: boss}, &IDs{})
		}); err != nil {
			t.Fatalf("undo of %d: %v", i, err)
		}
	}
}

// Two nodes that take one key give its goal two ids, by the time that each fixed. A correction finds the goal by either.
func TestGoalOfTwoIDs(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	ids := func() *IDs { return &IDs{Seed: "s\nk"} }
	here := r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, ids())
	}).IDs["event"]
	there := ids().Goal(r.now.Add(time.Second))
	if there == here || tapOf(there) != tapOf(here) || tapOf(there) == tapOf((&IDs{Seed: "s\nl"}).Goal(r.now)) || tapOf("a word") != "a word" {
		t.Fatalf("%s and %s", here, there)
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.UndoLast(tx, "g", there, Corrector{Actor: boss}, &IDs{}) })
	if left := r.board("g").Goals; len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

// over plays a game to its end, as another node does.
func (r *rig) over() (finished time.Time) {
	r.t.Helper()
	r.play("g", [2]string{"red", "blue"})
	return parseTime(*r.board("g").FinishedAt)
}

// original takes the plain attribute away from a finished game, as the original writes it.
func (r *rig) original() {
	r.t.Helper()
	row := r.row(gameKey("g"))
	delete(row, attrFinished)
	r.adopt(gameKey("g"), row)
}

// A goal that was tapped before the finish counts, whenever it arrives, and the result follows; one that was tapped later does not. So it is in a
// game that another program has finished.
func TestGoalFromBeforeTheFinish(t *testing.T) {
	for _, original := range []bool{false, true} {
		t.Run(fmt.Sprint("by the original: ", original), func(t *testing.T) {
			r := newRig(t)
			r.league()
			finished := r.over()
			if row := r.row(gameKey("g")); row[attrFinished].Str() != stampOf(finished) {
				t.Fatalf("beside the data: %v", row[attrFinished])
			}
			if original {
				r.original()
			}
			seq := r.store.Seq()
			tap := func(at time.Time) error {
				_, err := r.try(func(tx *store.Tx) (Change, error) {
					return r.CreateGoal(tx, "g", NewGoal{Scored: scored("yellow", "red"), At: at, Actor: boss}, &IDs{})
				})
				return err
			}
			r.now = finished.Add(time.Hour)
			if err := tap(finished.Add(time.Second)); codeOf(err) != "game_finished" {
				t.Errorf("after the finish: %v", err)
			}
			for i := range 9 {
				if err := tap(finished.Add(time.Duration(-i-1) * time.Second)); err != nil {
					t.Fatalf("before the finish: %v", err)
				}
			}
			b := r.board("g")
			if last := b.Goals[len(b.Goals)-1]; len(b.Goals) != 12 || !last.Late || *b.Result.WinnerTeamID != "yellow" {
				t.Errorf("%d goals, %+v", len(b.Goals), b.Result)
			}
			r.export(seq)
			row, err := decode[Game](r.row(gameKey("g")))
			if err != nil || *row.Result.WinnerTeamID != "yellow" {
				t.Errorf("row: %+v %v", row.Result, err)
			}
			r.must(func(tx *store.Tx) (Change, error) {
				return r.DeleteGoal(tx, "g", b.Goals[3].EventID, Corrector{Actor: boss, Admin: true}, &IDs{})
			})
		})
	}
}

// A goal that the cloud refuses because another node has finished the game counts if it was tapped before, with what was changed of it since. An
// admin decides about later ones.
func TestMergeOfAGoalFromBeforeTheFinish(t *testing.T) {
	edit := func(r *rig, event string) Change {
		return view(r, func(tx *store.Tx) (Change, error) {
			return r.UpdateGoal(tx, "g", event, Corrector{Actor: boss}, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{Seed: "s\nl"})
		})
	}
	undo := func(r *rig, event string) Change {
		return view(r, func(tx *store.Tx) (Change, error) {
			return r.UndoLast(tx, "g", event, Corrector{Actor: boss}, &IDs{Seed: "s\nl"})
		})
	}
	for name, tt := range map[string]struct {
		then         func(r *rig, event string) Change
		by           string // empty: it was taken back
		original, is bool   // finished by the original; tapped after the finish
	}{
		"a goal":                          {by: "red"},
		"a goal, edited":                  {then: edit, by: "yellow"},
		"a goal, taken back":              {then: undo},
		"a goal, of the original's game":  {by: "red", original: true},
		"a goal, tapped after the finish": {by: "red", is: true},
		"an edited one, tapped after it":  {then: edit, by: "yellow", is: true},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := newRig(t), newRig(t)
			ours.league()
			ours.start("g", 1)
			theirs.league()
			finished := theirs.over()
			if tt.original {
				theirs.original()
			}
			if ours.now = finished.Add(-10 * time.Minute); tt.is {
				ours.now = finished.Add(time.Minute)
			}
			all := ours.entries(view(ours, ours.goalWithKey))
			event := ours.must(ours.goalWithKey).IDs["event"]
			var behind []Refused
			if tt.then != nil {
				behind = ours.entries(tt.then(ours, event))
			}
			made := theirs.row(gameKey("g"))["createdAt"]
			for _, r := range slices.Concat(all, behind) {
				for _, w := range r.Again {
					if w.Check != nil {
						w.Check.Values[":made"] = made
					}
				}
			}
			writes, ok := theirs.Merge(all, behind, theirs.get)
			if ok == tt.is {
				t.Fatalf("decided without a person: %t", ok)
			}
			if tt.is {
				writes = view(theirs, func(tx *store.Tx) (Change, error) { return theirs.CountGoal(tx, "g", slices.Concat(all, behind)) }).Writes
			}
			theirs.must(func(*store.Tx) (Change, error) { return Change{Writes: writes}, nil })
			i := slices.IndexFunc(theirs.board("g").Goals, func(g Goal) bool { return g.EventID == event })
			if (i >= 0) != (tt.by != "") {
				t.Fatalf("the goal is at %d", i)
			}
			if g := theirs.board("g").Goals; i >= 0 && (!g[i].Late || *g[i].ScoringTeamID != tt.by) {
				t.Errorf("%+v", g[i])
			}
			audits := view(theirs, func(tx *store.Tx) ([]Audit, error) { return read[Audit](theirs, tx, pkGame+"g", skAudit) })
			n := 0
			for i := range audits {
				if audits[i].EventID == event {
					n++
				}
			}
			if want := min(1+len(behind), 2); n != want || theirs.row(OnceKey("s", "k")) == nil {
				t.Errorf("%d audits, want %d", n, want)
			}
		})
	}
}

// A goal tapped before the finish is still conditional on its game: a finish that another node moved to before the tap refuses it.
func TestGoalIsConditionalOnTheFinish(t *testing.T) {
	r := newRig(t)
	r.league()
	finished := r.over()
	goal := view(r, func(tx *store.Tx) (Change, error) {
		return r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: finished.Add(-time.Second), Actor: boss}, &IDs{})
	})
	row := r.row(gameKey("g"))
	row[attrFinished] = attr.S(stampOf(finished.Add(-time.Minute)))
	r.adopt(gameKey("g"), row)
	if _, err := r.try(func(*store.Tx) (Change, error) { return goal, nil }); !fault.Is(err, fault.Conflict) {
		t.Errorf("a goal after the finish was taken: %v", err)
	}
}
