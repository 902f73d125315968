package reference_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// rig is a store whose time is set by hand.
type rig struct {
	*store.Store
	t   *testing.T
	now time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 10, 9, 12, 0, 0, 0, time.UTC)}
	r.Store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, Now: func() time.Time { return r.now }}, tables.All()...)
	return r
}

// do runs f in a transaction that must succeed.
func (r *rig) do(f func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.Update(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
}

var league = reference.LeagueRecord{LeagueID: "3", Name: "Twenty20 International", Code: "T20I", Type: "phase", SeasonID: "1715"}

// A sync takes the feed's values, except for fields that an admin has set.
func TestLeagueSyncKeepsAdminFields(t *testing.T) {
	r := newRig(t)
	var leagues reference.Leagues
	first := league
	first.Active = true
	r.do(func(tx *store.Tx) error { return leagues.Put(tx, first) })
	var patched reference.LeagueRecord
	r.do(func(tx *store.Tx) (err error) {
		patched, err = leagues.Patch(tx, "3", reference.LeaguePatch{Name: new("T20 Internationals"), Active: new(false), Marquee: new(true)})
		return err
	})
	want := first
	want.Name, want.Active, want.Marquee, want.AdminFields = "T20 Internationals", false, true, []string{"active", "marquee", "name"}
	if diff := cmp.Diff(want, patched); diff != "" {
		t.Errorf("patched (-want +got):\n%s", diff)
	}
	synced := league
	synced.Name, synced.SeasonID, synced.Active = "Another name", "1800", true
	r.do(func(tx *store.Tx) error { return leagues.Put(tx, synced) })
	want.SeasonID = "1800"
	var got reference.LeagueRecord
	r.do(func(tx *store.Tx) (err error) { got, err = leagues.Get(tx, "3"); return err })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the sync (-want +got):\n%s", diff)
	}
	before := r.Seq()
	r.do(func(tx *store.Tx) error { return leagues.Put(tx, synced) })
	if r.Seq() != before {
		t.Error("a sync without changes wrote")
	}
}

// A sync does not change whether an existing league is active, even if no admin has patched it.
func TestLeagueActiveIsNotTheFeeds(t *testing.T) {
	r := newRig(t)
	var leagues reference.Leagues
	for _, active := range []bool{true, false} {
		l := league
		l.LeagueID, l.Active = fmt.Sprint(active), active
		r.do(func(tx *store.Tx) error { return leagues.Put(tx, l) })
		l.Active = !active
		r.do(func(tx *store.Tx) error { return leagues.Put(tx, l) })
	}
	r.do(func(tx *store.Tx) error {
		active, err := leagues.Active(tx)
		if err != nil || len(active) != 1 || active[0].LeagueID != "true" {
			t.Errorf("active: %+v, %v", active, err)
		}
		return err
	})
}

func TestOneMarquee(t *testing.T) {
	r := newRig(t)
	var leagues reference.Leagues
	for i := range 5 {
		l := league
		l.LeagueID = fmt.Sprint(i)
		r.do(func(tx *store.Tx) error { return leagues.Put(tx, l) })
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		id, on := fmt.Sprint(rng.IntN(5)), rng.IntN(3) > 0
		r.do(func(tx *store.Tx) error {
			_, err := leagues.Patch(tx, id, reference.LeaguePatch{Marquee: &on})
			return err
		})
		r.do(func(tx *store.Tx) error {
			all, err := leagues.All(tx)
			var marquee []string
			for _, l := range all {
				if l.Marquee {
					marquee = append(marquee, l.LeagueID)
				}
			}
			if len(marquee) > 1 || on && !slices.Equal(marquee, []string{id}) {
				t.Errorf("marquee leagues are %v after %q was set to %v", marquee, id, on)
			}
			return err
		})
	}
}

func TestReferenceNotFound(t *testing.T) {
	r := newRig(t)
	for name, f := range map[string]func(tx *store.Tx) error{
		"get league": func(tx *store.Tx) error { _, err := reference.Leagues{}.Get(tx, "9"); return err },
		"patch league": func(tx *store.Tx) error {
			_, err := reference.Leagues{}.Patch(tx, "9", reference.LeaguePatch{Active: new(true)})
			return err
		},
		"delete league": func(tx *store.Tx) error { return reference.Leagues{}.Delete(tx, "9") },
		"get team":      func(tx *store.Tx) error { _, err := reference.Teams{}.Get(tx, "9"); return err },
		"patch team": func(tx *store.Tx) error {
			_, err := reference.Teams{}.Patch(tx, "9", reference.TeamPatch{Code: new("X")})
			return err
		},
		"get fixture":   func(tx *store.Tx) error { _, err := matches.Fixtures{}.Get(tx, "9"); return err },
		"archive":       func(tx *store.Tx) error { return matches.Fixtures{}.Archive(tx, "9") },
		"patch fixture": func(tx *store.Tx) error { return matches.Fixtures{}.Patch(tx, "9", attr.Item{"note": attr.S("x")}) },
	} {
		if err := r.Update(t.Context(), f); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Update(t.Context(), func(tx *store.Tx) error {
		_, err := reference.Leagues{}.Patch(tx, "9", reference.LeaguePatch{})
		return err
	}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an empty patch: %v", err)
	}
	r.do(func(tx *store.Tx) error { return reference.Leagues{}.Put(tx, league) })
	r.do(func(tx *store.Tx) error { return reference.Leagues{}.Delete(tx, "3") })
	if err := r.Update(t.Context(), func(tx *store.Tx) error { return reference.Leagues{}.Delete(tx, "3") }); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

// More teams than fit into a batch: some exist already, some are listed twice, and one has no id.
func TestTeams(t *testing.T) {
	r := newRig(t)
	var teams reference.Teams
	var all []reference.TeamRecord
	for i := range 130 {
		all = append(all, reference.TeamRecord{TeamID: fmt.Sprintf("%03d", i), Name: fmt.Sprintf("Team %d", i), Code: "T"})
	}
	r.do(func(tx *store.Tx) error { return teams.Put(tx, all[:60]...) })
	r.do(func(tx *store.Tx) error {
		_, err := teams.Patch(tx, "007", reference.TeamPatch{Name: new("Bond")})
		return err
	})
	r.do(func(tx *store.Tx) error {
		return teams.Put(tx, append(append(all, all[3], reference.TeamRecord{}), reference.TeamRecord{TeamID: "001", Name: "twice"})...)
	})
	all[7].Name, all[7].AdminFields = "Bond", []string{"name"}
	r.do(func(tx *store.Tx) error {
		got, err := teams.All(tx)
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return err
	})
}

func TestTeamSeasons(t *testing.T) {
	r := newRig(t)
	var seasons reference.TeamSeasons
	row := func(season, team string) reference.TeamSeasonRecord {
		return reference.TeamSeasonRecord{
			SeasonID: season, TeamID: team, Name: "T" + team, Played: 3, UpdatedAt: r.now,
			Squad: []reference.SquadPlayer{{ID: "270", Name: "Sahibzada Farhan", Position: "Wicketkeeper"}},
		}
	}
	var all []reference.TeamSeasonRecord
	for i := range 30 {
		all = append(all, row("1715", fmt.Sprintf("%02d", i)))
	}
	r.do(func(tx *store.Tx) error { return seasons.Put(tx, append(all, row("1716", "01"), row("", "x"))...) })
	before := r.Seq()
	r.now = r.now.Add(time.Hour)
	again := row("1715", "03")
	r.do(func(tx *store.Tx) error { return seasons.Put(tx, again) })
	if r.Seq() != before {
		t.Error("a record with nothing new but its time was written")
	}
	r.do(func(tx *store.Tx) error {
		got, err := seasons.Of(tx, "1715")
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return err
	})
}

func TestStandings(t *testing.T) {
	fx := func(season string, phase cricket.Phase, winner int64, a, b int64) matches.Fixture {
		return matches.Fixture{SeasonID: season, LeagueID: 3, Phase: phase, WinnerID: winner, Teams: []matches.FixtureTeam{{ID: a}, {ID: b}}}
	}
	got := reference.Standings([]matches.Fixture{
		fx("1", cricket.PhaseCompleted, 10, 10, 20), fx("1", cricket.PhaseCompleted, 20, 10, 20), fx("1", cricket.PhaseCompleted, 0, 10, 30),
		fx("1", cricket.PhaseAbandoned, 0, 20, 30), fx("1", cricket.PhaseLive, 0, 10, 20), fx("2", cricket.PhaseCompleted, 10, 10, 20),
		fx("1", cricket.PhasePrematch, 0, 40, 0),
	}, "1")
	var lines []string
	for _, id := range []string{"10", "20", "30", "40"} {
		s := got[id]
		lines = append(lines, fmt.Sprintf("%s %d %d %d %d", id, s.Played, s.Won, s.Lost, s.Undecided))
	}
	if diff := cmp.Diff("10 3 1 1 1\n20 3 1 1 1\n30 2 0 0 2\n40 0 0 0 0", strings.Join(lines, "\n")); diff != "" || len(got) != 4 {
		t.Errorf("%d teams (-want +got):\n%s", len(got), diff)
	}
}
