package matches_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// The fence is checked before anything is written: a fenced-off node is refused even if its snapshot changes only the note, or
// nothing.
func TestTickUnderAnOldFence(t *testing.T) {
	ctx := t.Context()
	service := matches.NewService(storetest.Open(t, tables.All()...), cricket.Options{})
	reading := newScript(t, 20).snap
	if _, err := service.Tick(ctx, &reading, matches.Owner{Node: "new", Fence: 7}); err != nil {
		t.Fatal(err)
	}
	before, err := service.Match(ctx, reading.MatchID)
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{reading.Note, "Start delayed"} {
		reading.Note = note
		_, err := service.Tick(ctx, &reading, matches.Owner{Node: "old", Fence: 3})
		fenced, ok := errors.AsType[*matches.FencedOffError](err)
		if !ok || fenced.Fence != 7 || fault.KindOf(err) != fault.Conflict {
			t.Errorf("note %q under an old fence: %v", note, err)
		}
	}
	after, err := service.Match(ctx, reading.MatchID)
	if err != nil {
		t.Fatal(err)
	}
	if after.Note != before.Note {
		t.Errorf("the fenced-off node wrote the note %q", after.Note)
	}
}

// A fixture has the feed's data, loses what the feed removes, and is archived when its match has ended.
func TestFixtureOfATick(t *testing.T) {
	ctx := t.Context()
	service := matches.NewService(storetest.Open(t, tables.All()...), cricket.Options{})
	reading := newScript(t, 20).snap
	reading.StartsAt = time.Now() // the store's clock is the real one
	by := matches.Owner{Node: "n", Fence: 1}
	for _, note := range []string{"Start delayed", ""} {
		reading.Note = note
		if _, err := service.Tick(ctx, &reading, by); err != nil {
			t.Fatal(err)
		}
		f, err := service.Match(ctx, reading.MatchID)
		if err != nil {
			t.Fatal(err)
		}
		if f.Note != note || len(f.Teams) != 2 {
			t.Errorf("after the note %q the fixture has %+v", note, f)
		}
	}
	reading.StartsAt = reading.StartsAt.AddDate(-1, 0, 0) // the match never began
	st, err := service.Tick(ctx, &reading, by)
	if err != nil || st.Status != cricket.ActiveEnded {
		t.Fatalf("%s, %v", st.Status, err)
	}
	f, err := service.Match(ctx, reading.MatchID)
	if err != nil || f.ArchivedAt.IsZero() {
		t.Errorf("archived at %s, %v", f.ArchivedAt, err)
	}
}

// A snapshot without a start time does not end the match, and the fixture keeps its start time.
func TestReadingWithoutStart(t *testing.T) {
	s, db, tick := ticker(t)
	start := s.snap.StartsAt
	tick(1)
	s.snap.StartsAt, s.snap.Note = time.Time{}, "Start delayed"
	if st := tick(1); st.Status != cricket.ActiveIdle {
		t.Errorf("the match is %s", st.Status)
	}
	f, err := matches.NewService(db, cricket.Options{}).Match(t.Context(), "7")
	if err != nil || !f.StartTime.Equal(start) || !f.ArchivedAt.IsZero() || f.Note != s.snap.Note {
		t.Errorf("the fixture is %+v, %v", f, err)
	}
}

// ticker returns a script, a store on the script's clock, and a function that ticks the script's snapshot n times.
func ticker(t *testing.T) (s *script, db *store.Store, tick func(n int) cricket.State) {
	t.Helper()
	s = newScript(t, 20)
	db = storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, Now: func() time.Time { return s.now }}, tables.All()...)
	service := matches.NewService(db, cricket.Options{})
	tick = func(n int) (st cricket.State) {
		for range n {
			snap := s.copied()
			var err error
			if st, err = service.Tick(t.Context(), &snap, matches.Owner{Node: "n", Fence: 1}); err != nil {
				t.Fatal(err)
			}
			s.now = s.now.Add(2500 * time.Millisecond)
		}
		return st
	}
	return s, db, tick
}

func eventRow(t *testing.T, db *store.Store, key string) attr.Item {
	t.Helper()
	var row attr.Item
	err := db.View(t.Context(), func(tx *store.Tx) (err error) {
		row, err = tx.Get(tables.Events, attr.Item{"matchId": attr.S("7"), "eventKey": attr.S(key)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// An existing row was claimed before: the tick continues, the row stays, and its key is known from then on.
func TestTickOfAnEventThatIsThere(t *testing.T) {
	s, db, tick := ticker(t)
	tick(1)
	s.innings(teamA)
	if st := tick(6); !st.Seen.Has("start") { // a state without any key would be filled from the rows
		t.Fatal(st.Seen.Keys())
	}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: tables.Events, Item: attr.Item{
			"matchId": attr.S("7"), "eventKey": attr.S("w:1:1"), "type": attr.S("wicket"), "text": attr.S("announced by another node"),
		}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.bowl("1 W")
	st := tick(6)
	if !st.Seen.Has("w:1:1") || !st.Seen.Has("start") || len(st.Pending) > 0 {
		t.Errorf("known %v, held %v", st.Seen.Keys(), st.Pending)
	}
	if row := eventRow(t, db, "w:1:1"); row["text"].Str() != "announced by another node" {
		t.Errorf("the row was overwritten: %v", row)
	}
}

// The row of a changed event is rewritten. It keeps the alert, its time, and the text that was announced.
func TestTickRevisesARow(t *testing.T) {
	s, db, tick := ticker(t)
	tick(1)
	s.innings(teamA)
	s.bowl("1 W")
	tick(6)
	before := eventRow(t, db, "w:1:1")
	b := &s.snap.Balls[1]
	mine, other := s.row(1, b.BatterID), s.row(1, s.pair[1])
	other.Out, other.BowlerID, other.FoWOvers, other.FoWRuns = true, mine.BowlerID, mine.FoWOvers, mine.FoWRuns
	mine.Out, mine.BowlerID, mine.FoWOvers = false, 0, ""
	b.OutID, b.Outcome = s.pair[1], "Run Out"
	tick(6)
	row := eventRow(t, db, "w:1:1")
	if row["text"].Str() != "WICKET! P101 run out 1 (1) · ALP 1/1 (0.2)" || row["detail"].Str() != "run_out" ||
		row["told"].Str() != before["text"].Str() || !row["alert"].Bool() || row["at"].Str() != before["at"].Str() {
		t.Errorf("the row was %v\nand is %v", before, row)
	}
}

// The rows of a long match's first day expire together with those of its last: a week after its end.
func TestTickOfALongMatch(t *testing.T) {
	s, db, tick := ticker(t)
	s.snap.Overs, s.snap.Type = 0, "Test/5day"
	tick(1)
	s.innings(teamA)
	s.bowl("1 W")
	tick(6)
	want := s.snap.StartsAt.AddDate(0, 0, 5+7).Unix()
	until := func(what string, row attr.Item) {
		t.Helper()
		if got, _ := row["ttl"].Int(); got != want {
			t.Errorf("%s is kept until %s", what, time.Unix(got, 0).UTC())
		}
	}
	until("a wicket", eventRow(t, db, "w:1:1"))
	err := db.View(t.Context(), func(tx *store.Tx) error {
		for _, key := range []string{tables.DisplayKey("7"), tables.CardKey("7", 1)} {
			row, err := tx.Get(tables.Display, attr.Item{"cacheKey": attr.S(key)})
			if err != nil {
				return err
			}
			until(key, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The seen keys of a row from a version that kept none are filled from the events.
func TestTickFillsKeys(t *testing.T) {
	s, db, tick := ticker(t)
	tick(1)
	s.innings(teamA)
	s.bowl("1 4 W")
	want := tick(6).Seen.Keys()
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{Table: tables.ActiveMatches, Key: tables.MatchKey("7"), Update: "REMOVE emitted, told"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := tick(1).Seen.Keys(); !slices.Equal(got, want) || len(got) < 3 {
		t.Errorf("filled with %v, want %v", got, want)
	}
}

// If the feed reopens a match, the row of the result is deleted, and the result can be announced again. A doubted snapshot
// does not change the display.
func TestTickOfAReopenedMatch(t *testing.T) {
	s, db, tick := ticker(t)
	tick(1)
	s.innings(teamA)
	s.bowl("1 4 1")
	tick(4)
	s.snap.Status, s.snap.NoResult = "Finished", "no result"
	tick(4)
	if row := eventRow(t, db, "result"); !row["alert"].Bool() {
		t.Fatalf("the result is %v", row)
	}
	s.snap.Status, s.snap.NoResult = "1st Innings", ""
	st := tick(5)
	if eventRow(t, db, "result") != nil || st.Seen.Has("result") || !st.FinishedAt.IsZero() {
		t.Errorf("the result is still there: %v", st.FinishedAt)
	}
	if row := eventRow(t, db, "corr:result"); !row["alert"].Bool() {
		t.Errorf("the correction is %v", row)
	}
	before, err := matches.NewService(db, cricket.Options{}).Display(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	truth := s.snap
	s.snap.Balls, s.snap.Note = nil, "a note without balls"
	tick(2)
	after, err := matches.NewService(db, cricket.Options{}).Display(t.Context(), "7")
	if err != nil || after.Note != before.Note || len(after.LastBalls) != 3 {
		t.Errorf("a snapshot without balls shows %+v, %v", after, err)
	}
	s.snap = truth
	s.snap.Status, s.snap.NoResult = "Finished", "no result"
	tick(4)
	if row := eventRow(t, db, "result"); !row["alert"].Bool() {
		t.Errorf("the result is not announced again: %v", row)
	}
}
