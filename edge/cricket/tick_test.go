package cricket

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// The fence is asked before anything is written: a deposed node is refused although its reading would change no more
// than the note, or nothing at all.
func TestTickUnderAnOldFence(t *testing.T) {
	ctx := t.Context()
	service := NewService(storetest.Open(t, Tables()...), Options{})
	reading := newScript(t, 20).snap
	if _, err := service.Tick(ctx, &reading, Owner{Node: "new", Fence: 7}); err != nil {
		t.Fatal(err)
	}
	before, err := service.Match(ctx, reading.MatchID)
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{reading.Note, "Start delayed"} {
		reading.Note = note
		_, err := service.Tick(ctx, &reading, Owner{Node: "old", Fence: 3})
		deposed, ok := errors.AsType[*DeposedError](err)
		if !ok || deposed.Fence != 7 || fault.KindOf(err) != fault.Conflict {
			t.Errorf("note %q under an old fence: %v", note, err)
		}
	}
	after, err := service.Match(ctx, reading.MatchID)
	if err != nil {
		t.Fatal(err)
	}
	if after.Note != before.Note {
		t.Errorf("the deposed node wrote the note %q", after.Note)
	}
}

// A fixture has what the feed says, loses what it takes back, and is archived when its match has ended.
func TestFixtureOfATick(t *testing.T) {
	ctx := t.Context()
	service := NewService(storetest.Open(t, Tables()...), Options{})
	reading := newScript(t, 20).snap
	reading.StartsAt = time.Now() // the store's clock is the real one
	by := Owner{Node: "n", Fence: 1}
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
	reading.StartsAt = reading.StartsAt.AddDate(-1, 0, 0) // it never began
	st, err := service.Tick(ctx, &reading, by)
	if err != nil || st.Status != ActiveEnded {
		t.Fatalf("%s, %v", st.Status, err)
	}
	f, err := service.Match(ctx, reading.MatchID)
	if err != nil || f.ArchivedAt.IsZero() {
		t.Errorf("archived at %s, %v", f.ArchivedAt, err)
	}
}

// A reading that does not say when the match starts ends nothing, and takes no time back.
func TestReadingWithoutStart(t *testing.T) {
	s, db, tick := ticker(t)
	start := s.snap.StartsAt
	tick(1)
	s.snap.StartsAt, s.snap.Note = time.Time{}, "Start delayed"
	if st := tick(1); st.Status != ActiveIdle {
		t.Errorf("the match is %s", st.Status)
	}
	f, err := NewService(db, Options{}).Match(t.Context(), "7")
	if err != nil || !f.StartTime.Equal(start) || !f.ArchivedAt.IsZero() || f.Note != s.snap.Note {
		t.Errorf("the fixture is %+v, %v", f, err)
	}
}

// An event keeps the time it was first shown with while it is in the banner.
func TestBannerKeepsItsTime(t *testing.T) {
	_, db, _ := ticker(t)
	shown := func(key string, at time.Time) time.Time {
		d := Display{MatchID: "7", KeyEvent: &KeyEvent{Key: key, At: at}}
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			if err := keepBanner(tx, &d); err != nil {
				return err
			}
			return writeCached(tx, DisplayKey("7"), d, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		return d.KeyEvent.At
	}
	first := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	later := first.Add(time.Minute)
	if shown("inn:1", first); !shown("inn:1", later).Equal(first) {
		t.Error("the same event has another time")
	}
	if !shown("w:2:1", later).Equal(later) {
		t.Error("another event has the time of the one before")
	}
}

// ticker plays a script through a service whose store has the script's time.
func ticker(t *testing.T) (s *script, db *store.Store, tick func(n int) State) {
	t.Helper()
	s = newScript(t, 20)
	db = storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, Now: func() time.Time { return s.now }}, Tables()...)
	service := NewService(db, Options{})
	tick = func(n int) (st State) {
		for range n {
			snap := s.copied()
			var err error
			if st, err = service.Tick(t.Context(), &snap, Owner{Node: "n", Fence: 1}); err != nil {
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
		row, err = tx.Get(TableEvents, attr.Item{"matchId": attr.S("7"), "eventKey": attr.S(key)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// A row that is there already was claimed before: the tick goes on, the row stays, the key is known from then on.
func TestTickOfAnEventThatIsThere(t *testing.T) {
	s, db, tick := ticker(t)
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: TableEvents, Item: attr.Item{
			"matchId": attr.S("7"), "eventKey": attr.S("w:1:1"), "type": attr.S("wicket"), "text": attr.S("told by another"),
		}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tick(1)
	s.innings(teamA)
	s.bowl("1 W")
	st := tick(6)
	if !st.Emitted.Has("w:1:1") || !st.Emitted.Has("start") || len(st.Pending) > 0 {
		t.Errorf("known %v, held %v", st.Emitted.Keys(), st.Pending)
	}
	if row := eventRow(t, db, "w:1:1"); row["text"].Str() != "told by another" {
		t.Errorf("the row was written over: %v", row)
	}
}

// The row of an event that was otherwise says what is so, that phones were told, and what.
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

// What is written on the first day of a long match goes with what is written on the last: a week after its end.
func TestTickOfALongMatch(t *testing.T) {
	s, db, tick := ticker(t)
	s.multiDay()
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
		for _, key := range []string{DisplayKey("7"), CardKey("7", 1)} {
			row, err := tx.Get(TableDisplay, attr.Item{"cacheKey": attr.S(key)})
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

// The row of a version that kept no keys is filled from the events, once.
func TestTickFillsKeysOnce(t *testing.T) {
	s, db, tick := ticker(t)
	tick(1)
	s.innings(teamA)
	s.bowl("1 4 W")
	want := tick(6).Emitted.Keys()
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{Table: TableActiveMatches, Key: matchKey("7"), Update: "REMOVE emitted, told"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := tick(1).Emitted.Keys(); !slices.Equal(got, want) || len(got) < 3 {
		t.Errorf("filled with %v, want %v", got, want)
	}
}

// A feed that re-opens a match takes the result's row away, and it can be told again. A doubted reading changes
// neither display nor fixture.
func TestTickOfAMatchThatGoesOn(t *testing.T) {
	s, db, tick := ticker(t)
	tick(1)
	s.innings(teamA)
	s.bowl("1 4 1")
	tick(4)
	s.snap.Status, s.snap.NoResult = "Finished", "no result"
	tick(4)
	if row := eventRow(t, db, resultKey); !row["alert"].Bool() {
		t.Fatalf("the result is %v", row)
	}
	s.snap.Status, s.snap.NoResult = "1st Innings", ""
	st := tick(5)
	if eventRow(t, db, resultKey) != nil || st.Emitted.Has(resultKey) || !st.FinishedAt.IsZero() {
		t.Errorf("the result is still there: %v", st.FinishedAt)
	}
	if row := eventRow(t, db, "corr:result"); !row["alert"].Bool() {
		t.Errorf("the correction is %v", row)
	}
	before, err := NewService(db, Options{}).Display(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	truth := s.snap
	s.snap.Balls, s.snap.Note = nil, "a note of a reading without balls"
	tick(2)
	after, err := NewService(db, Options{}).Display(t.Context(), "7")
	if err != nil || after.Note != before.Note || len(after.LastBalls) != 3 {
		t.Errorf("a reading without balls shows %+v, %v", after, err)
	}
	s.snap = truth
	s.snap.Status, s.snap.NoResult = "Finished", "no result"
	tick(4)
	if row := eventRow(t, db, resultKey); !row["alert"].Bool() {
		t.Errorf("the result is not told again: %v", row)
	}
}
