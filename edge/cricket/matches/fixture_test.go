package matches_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// snap returns a snapshot of a match with the fields of a list only.
func snap(id string, status cricket.Status, start time.Time) *cricket.Snapshot {
	return &cricket.Snapshot{
		MatchID: id, Status: status, Type: "T20I", StartsAt: start, SeasonID: 1715,
		League: cricket.League{ID: 3, Name: "Twenty20 International", Code: "T20I"},
		Teams:  [2]cricket.Team{{ID: 1, Name: "Pakistan", Code: "PAK"}, {ID: 39, Name: "Sri Lanka", Code: "SL"}},
	}
}

func ids(all []matches.Fixture) (out []string) {
	for i := range all {
		out = append(out, all[i].MatchID)
	}
	return out
}

// Fixtures are read by ids, by league and start time, and by start time without those that have begun.
func TestFixtureReads(t *testing.T) {
	r := newRig(t)
	var fixtures matches.Fixtures
	var all []matches.Fixture
	for i := range 120 {
		all = append(all, matches.Fixture{
			MatchID: fmt.Sprintf("%03d", i), LeagueCode: []string{"T20I", "ODI"}[i%2], StartTime: r.now.Add(time.Duration(i) * time.Hour),
			Teams: []matches.FixtureTeam{},
		})
	}
	all[2].LiveUpdatedAt, all[4].ArchivedAt = r.now, r.now
	r.do(func(tx *store.Tx) error { return putFixtures(tx, all...) })
	var want []string
	for i := range all {
		want = append(want, all[i].MatchID)
	}
	check := func(name string, want []string, read func(tx *store.Tx) ([]matches.Fixture, error)) {
		t.Helper()
		r.do(func(tx *store.Tx) error {
			got, err := read(tx)
			if diff := cmp.Diff(want, ids(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			return err
		})
	}
	check("batch", want, func(tx *store.Tx) ([]matches.Fixture, error) {
		return fixtures.Batch(tx, append(append([]string{"none", "", "001"}, want...), "001")...)
	})
	check("between", []string{"001", "003", "005"}, func(tx *store.Tx) ([]matches.Fixture, error) {
		return fixtures.StartingBetween(tx, "ODI", r.now, r.now.Add(5*time.Hour))
	})
	check("ahead", []string{"000", "001", "003", "005"}, func(tx *store.Tx) ([]matches.Fixture, error) {
		return fixtures.Ahead(tx, r.now, r.now.Add(5*time.Hour))
	})
}

func TestArchiveAndPatch(t *testing.T) {
	r := newRig(t)
	var fixtures matches.Fixtures
	r.do(func(tx *store.Tx) error {
		return putFixtures(tx, matches.Fixture{MatchID: "1", LiveUpdatedAt: r.now, Note: "Target 183 runs", Teams: []matches.FixtureTeam{}})
	})
	r.now = r.now.Add(time.Hour)
	r.do(func(tx *store.Tx) error { return fixtures.Patch(tx, "1", attr.Item{"venue": attr.S("Rawalpindi")}) })
	r.do(func(tx *store.Tx) error { return fixtures.Archive(tx, "1") })
	r.do(func(tx *store.Tx) error {
		got, err := fixtures.Get(tx, "1")
		want := matches.Fixture{MatchID: "1", ArchivedAt: r.now, Note: "Target 183 runs", Venue: "Rawalpindi", Teams: []matches.FixtureTeam{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return err
	})
}

// Sync creates and updates rows from the list of fixtures. The play of a registered match is left to its ticks.
func TestFixtureSync(t *testing.T) {
	r := newRig(t)
	var fixtures matches.Fixtures
	sync := func(s *cricket.Snapshot) (changed bool) {
		r.do(func(tx *store.Tx) (err error) { changed, err = fixtures.Sync(tx, s); return err })
		return changed
	}
	get := func(id string) (f matches.Fixture) {
		r.do(func(tx *store.Tx) (err error) { f, err = fixtures.Get(tx, id); return err })
		return f
	}
	start := r.now.Add(3 * time.Hour)
	s := snap("1", "NS", start)
	if !sync(s) || sync(s) {
		t.Error("a new match was not written exactly once")
	}
	r.do(func(tx *store.Tx) error { return fixtures.Patch(tx, "1", attr.Item{"broadcast": attr.S("theirs")}) })
	moved := snap("1", "Delayed", start.Add(time.Hour))
	moved.Venue = "Rawalpindi"
	sync(moved)
	f := get("1")
	if !f.StartTime.Equal(moved.StartsAt) || f.Venue != "Rawalpindi" || f.Phase != cricket.PhasePrematch || f.SeasonID != "1715" {
		t.Errorf("moved: %+v", f)
	}
	// Once the match is registered, only its ticks write status and note.
	r.do(func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: tables.ActiveMatches, Item: attr.Item{"matchId": attr.S("1"), "status": attr.S("live")}})
		return err
	})
	r.do(func(tx *store.Tx) error {
		return fixtures.Patch(tx, "1", attr.Item{"status": attr.S("2nd Innings"), "phase": attr.S("live")})
	})
	late := snap("1", "1st Innings", start)
	late.Venue, late.Note = "Lahore", "an older note"
	sync(late)
	if f = get("1"); f.Status != "2nd Innings" || f.Note != "" || f.Venue != "Lahore" {
		t.Errorf("a registered match after a sync: %+v", f)
	}
	// Over before it was registered.
	over := snap("2", "Finished", r.now.Add(-5*time.Hour))
	over.Note, over.Winner = "Pakistan won by 3 wickets", 1
	sync(over)
	r.now = r.now.Add(time.Hour)
	if sync(over) {
		t.Error("an archived match was archived again")
	}
	f = get("2")
	if f.WinnerID != 1 || f.Result != over.Note || f.ArchivedAt.IsZero() || f.Phase != cricket.PhaseCompleted || !f.LiveUpdatedAt.IsZero() {
		t.Errorf("over: %+v", f)
	}
	r.do(func(tx *store.Tx) error {
		item, err := tx.Get(tables.Fixtures, attr.Item{"matchId": attr.S("1")})
		if item["broadcast"].Str() != "theirs" {
			t.Error("an attribute of other writers is gone")
		}
		return err
	})
}

// putFixtures writes fixtures as they are.
func putFixtures(tx *store.Tx, all ...matches.Fixture) error {
	for i := range all {
		item, err := attr.Marshal(&all[i])
		if err == nil {
			_, err = tx.Put(store.PutItem{Table: tables.Fixtures, Item: item})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
