package cricket

import (
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
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
