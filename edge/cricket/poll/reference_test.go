package poll_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
)

// Replies are cached when they change, and only then.
func TestRepliesAreCached(t *testing.T) {
	r := newRig(t)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		return []cricket.Snapshot{match(1, 3, "1st Innings", int(now.Sub(midday())/time.Minute)), match(2, 3, "1st Innings", 1)}
	}
	p := r.run(10*time.Minute + time.Second)[0]
	if s := p.Status(); s.Cached != 11+1 || s.TooBig != 0 {
		t.Errorf("%d replies cached, %d too big; %d polls", s.Cached, s.TooBig, s.Polls)
	}
	r.do(func(tx *store.Tx) error {
		f, found, err := cricket.FixtureCache{}.Get(tx, "1")
		if !found || string(f.Raw) == "" || f.CachedAt.Sub(midday()) != 10*time.Minute {
			t.Errorf("%t, cached at %s: %s", found, f.CachedAt, f.Raw)
		}
		if _, found, _ := (cricket.FixtureCache{}).Get(tx, "2"); found {
			t.Error("a reply of ten minutes ago counts as fresh")
		}
		return err
	})
}

// Leagues and teams are read at the start and every six hours; squads follow.
func TestReferenceSync(t *testing.T) {
	r := newRig(t)
	r.config.Reference, r.config.Leagues = r.feed, []string{"T20I"}
	r.feed.leagues = []cricket.LeagueRecord{
		{LeagueID: "3", Name: "Twenty20 International", Code: "T20I", SeasonID: "1715", Active: true, Marquee: true},
		{LeagueID: "5", Name: "Big Bash League", Code: "BBL", SeasonID: "1716", Active: true},
	}
	r.feed.fixtures = func(time.Time) []cricket.Snapshot {
		s := match(7, 3, "Finished", 100)
		s.League, s.Winner, s.Note = cricket.League{ID: 3, Name: "Twenty20 International", Code: "T20I"}, 39, "Sri Lanka won"
		s.StartsAt = midday().Add(-5 * time.Hour)
		return []cricket.Snapshot{s}
	}
	p := r.run(6*time.Hour + time.Minute)[0]
	for what, want := range map[string][]time.Duration{
		"leagues": {0, 6 * time.Hour}, "teams": {0, 6 * time.Hour}, "squad 1 1715": {0, 6 * time.Hour}, "squad 39 1715": {0, 6 * time.Hour},
	} {
		if diff := cmp.Diff(want, r.feed.asked(what)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	r.do(func(tx *store.Tx) error {
		leagues, err := cricket.Leagues{}.All(tx)
		if err != nil || len(leagues) != 2 || !leagues[0].Active || leagues[0].Marquee || leagues[1].Active {
			t.Errorf("leagues: %+v, %v", leagues, err)
		}
		teams, err := cricket.Teams{}.All(tx)
		if err != nil || len(teams) != 2 {
			t.Errorf("teams: %+v, %v", teams, err)
		}
		rows, err := cricket.TeamSeasons{}.Of(tx, "1715")
		if err != nil || len(rows) != 2 {
			t.Fatalf("seasons: %+v, %v", rows, err)
		}
		if rows[0].Name != "Pakistan" || rows[0].SeasonName != "2026" || rows[0].Lost != 1 || len(rows[0].Squad) != 1 || rows[1].Won != 1 {
			t.Errorf("rows: %+v", rows)
		}
		return nil
	})
	var names []string
	for _, j := range p.Status().Jobs {
		names = append(names, j.Name)
		if j.LastError != "" || j.Runs == 0 && j.Name != "marquee" && j.Name != "prematch" && j.Name != "reconcile" && j.Name != "cache" {
			t.Errorf("job %+v", j)
		}
	}
	want := []string{"cache", "cleanup", "fixtures", "leagues", "marquee", "orchestrator", "prematch", "reconcile", "score", "scores", "seat", "teams"}
	if diff := cmp.Diff(want, names); diff != "" && !slices.Equal(names, want[1:]) {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// Names that an admin has given show in the match.
func TestAdminsNamesShow(t *testing.T) {
	r := newRig(t)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		return []cricket.Snapshot{match(1, 3, "1st Innings", int(now.Sub(midday())/time.Second))}
	}
	r.leagueRow("3", true, false)
	name, code := "The Series", "PKN"
	r.do(func(tx *store.Tx) error {
		if err := (cricket.Teams{}).Put(tx, cricket.TeamRecord{TeamID: "1", Name: "Pakistan", Code: "PAK"}); err != nil {
			return err
		}
		if _, err := (cricket.Teams{}).Patch(tx, "1", cricket.TeamPatch{Code: &code}); err != nil {
			return err
		}
		_, err := cricket.Leagues{}.Patch(tx, "3", cricket.LeaguePatch{Name: &name})
		return err
	})
	r.run(time.Minute)
	d, err := r.service.Display(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	if d.League != name || d.Teams[0].Code != code || d.Teams[1].Code != "SL" {
		t.Errorf("league %q, teams %+v", d.League, d.Teams)
	}
}
