package reference_test

import (
	"fmt"
	"maps"
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
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/storetest"
)

// rig is a store whose time is set by hand.
type rig struct {
	*store.Store
	t    *testing.T
	now  time.Time
	read *reference.Readings
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 10, 9, 12, 0, 0, 0, time.UTC), read: reference.NewReadings()}
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

// leagues reads leagues from the feed, of which some rows are left as they are.
func (r *rig) leagues(left int, all ...reference.LeagueRecord) {
	r.t.Helper()
	r.settles(r.read.LeagueRows, r.read.SetLeagues(all...), left)
}

// teams reads teams likewise.
func (r *rig) teams(left int, all ...reference.TeamRecord) {
	r.t.Helper()
	r.settles(r.read.TeamRows, r.read.SetTeams(all...), left)
}

func (r *rig) settles(rule *derived.Rule, unit string, left int) derived.Outcome {
	r.t.Helper()
	out, err := rule.SettleUnit(r.t.Context(), r.Store, unit)
	if err != nil || len(out.Others) != left {
		r.t.Errorf("%s: %d rows are left as they are, want %d; %v", rule.Name, len(out.Others), left, err)
	}
	return out
}

// row returns a row as it is.
func (r *rig) row(table string, key attr.Item) (it attr.Item) {
	r.t.Helper()
	r.do(func(tx *store.Tx) (err error) { it, err = tx.Get(table, key); return err })
	return it
}

// foreign writes a row as another program does.
func (r *rig) foreign(table string, it attr.Item) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: table, Item: it}); return err })
}

var league = reference.LeagueRecord{LeagueID: "3", Name: "Twenty20 International", Code: "T20I", Type: "phase", SeasonID: "1715"}

// A sync takes the feed's values, except for fields that an admin has set.
func TestLeagueSyncKeepsAdminFields(t *testing.T) {
	r := newRig(t)
	var leagues reference.Leagues
	first := league
	first.Active = true
	r.leagues(0, first)
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
	r.leagues(0, synced)
	want.SeasonID = "1800"
	var got reference.LeagueRecord
	r.do(func(tx *store.Tx) (err error) { got, err = leagues.Get(tx, "3"); return err })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the sync (-want +got):\n%s", diff)
	}
	before := r.Seq()
	r.leagues(0, synced)
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
		r.leagues(0, l)
		l.Active = !active
		r.leagues(0, l)
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
		r.leagues(0, l)
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
	r.leagues(0, league)
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
	r.teams(0, all[:60]...)
	r.do(func(tx *store.Tx) error {
		_, err := teams.Patch(tx, "007", reference.TeamPatch{Name: new("Bond")})
		return err
	})
	r.teams(0, append(append(all, all[3], reference.TeamRecord{}), reference.TeamRecord{TeamID: "001", Name: "twice"})...)
	all[7].Name, all[7].AdminFields = "Bond", []string{"name"}
	r.do(func(tx *store.Tx) error {
		got, err := teams.All(tx)
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return err
	})
}

// play writes a finished match between two teams.
func (r *rig) play(id string, winner, a, b int64) {
	r.t.Helper()
	it, err := attr.Marshal(matches.Fixture{
		MatchID: id, SeasonID: "1715", LeagueID: 3, LeagueCode: "T20I", StartTime: r.now, Phase: cricket.PhaseCompleted, WinnerID: winner,
		Teams: []matches.FixtureTeam{{ID: a, Name: fmt.Sprint("T", a)}, {ID: b, Name: fmt.Sprint("T", b)}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.foreign(tables.Fixtures, it)
}

// seasons reads the squads of teams, of whose rows some are left as they are.
func (r *rig) seasons(left int, teams ...string) derived.Outcome {
	r.t.Helper()
	for _, team := range teams {
		r.read.SetSquad("T20I", "1715", "2026", team, []reference.SquadPlayer{{ID: "270", Name: "Sahibzada Farhan", Position: "Wicketkeeper"}}, r.now)
	}
	return r.settles(r.read.SeasonRows, "1715", left)
}

func TestTeamSeasons(t *testing.T) {
	r := newRig(t)
	r.play("1", 10, 10, 20)
	r.play("2", 20, 20, 30)
	r.seasons(0, "10", "20") // the squad of 30 has not been read
	row := func(team string, won, lost int) reference.TeamSeasonRecord {
		return reference.TeamSeasonRecord{
			SeasonID: "1715", TeamID: team, LeagueID: "3", SeasonName: "2026", Name: "T" + team, Played: won + lost, Won: won, Lost: lost, UpdatedAt: r.now,
			Squad: []reference.SquadPlayer{{ID: "270", Name: "Sahibzada Farhan", Position: "Wicketkeeper"}},
		}
	}
	all := []reference.TeamSeasonRecord{row("10", 1, 0), row("20", 1, 1)}
	before := r.Seq()
	r.now = r.now.Add(time.Hour)
	r.seasons(0, "10", "20")
	if r.Seq() != before {
		t.Error("a record with nothing new but its time was written")
	}
	var got []reference.TeamSeasonRecord
	r.do(func(tx *store.Tx) (err error) { got, err = reference.TeamSeasons{}.OfSeason(tx, "1715"); return err })
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.play("3", 10, 10, 20)
	r.seasons(0)
	r.do(func(tx *store.Tx) (err error) { got, err = reference.TeamSeasons{}.OfSeason(tx, "1715"); return err })
	if diff := cmp.Diff([]reference.TeamSeasonRecord{row("10", 2, 0), row("20", 1, 2)}, got); diff != "" {
		t.Errorf("after another match (-want +got):\n%s", diff)
	}
}

// Rows that another program has filled stay as they are, whatever the feed says, and so does a row of this program once another program has
// changed it. A row that nothing has been written into is filled. Attributes that this program does not know stay in any case.
func TestRowsOfOthersStay(t *testing.T) {
	r := newRig(t)
	text := func(pairs ...string) attr.Item {
		it := attr.Item{}
		for i := 0; i < len(pairs); i += 2 {
			it[pairs[i]] = attr.S(pairs[i+1])
		}
		return it
	}
	theirs := map[string]attr.Item{
		tables.Leagues: text("leagueId", "3", "name", "T20Is", "sponsor", "of others"), tables.Teams: text("teamId", "10", "name", "Lions", "sponsor", "of others"),
		tables.TeamSeasons: text("seasonId", "1715", "teamId", "10", "name", "Lions", "captain", "of others"),
	}
	for name, it := range theirs {
		r.foreign(name, it)
	}
	r.foreign(tables.Leagues, text("leagueId", "4", "sponsor", "of others"))
	r.play("1", 10, 10, 20)
	second, third := league, league
	second.LeagueID, third.LeagueID = "4", "5"
	team, own := reference.TeamRecord{TeamID: "10", Name: "England"}, reference.TeamRecord{TeamID: "20", Name: "India"}
	read := func(left int) {
		t.Helper()
		r.leagues(left, league, second, third)
		r.teams(left, team, own)
		r.seasons(left, "10", "20")
	}
	read(1)
	for name, it := range theirs {
		key := maps.Clone(it)
		maps.DeleteFunc(key, func(name string, _ attr.Value) bool { return !strings.HasSuffix(name, "Id") })
		if is := r.row(name, key); !attr.EqualItems(is, it) {
			t.Errorf("%s was %v and is %v", name, it, is)
		}
	}
	if it := r.row(tables.Leagues, text("leagueId", "4")); it["name"].Str() != league.Name || it["sponsor"].Str() != "of others" {
		t.Errorf("a row that nothing had been written into: %v", it)
	}
	for name, key := range map[string]attr.Item{
		tables.Leagues: text("leagueId", "5"), tables.Teams: text("teamId", "20"), tables.TeamSeasons: text("seasonId", "1715", "teamId", "20"),
	} {
		it := r.row(name, key)
		it["name"] = attr.S("corrected by others")
		r.foreign(name, it)
	}
	read(2)
	if it := r.row(tables.Teams, text("teamId", "20")); it["name"].Str() != "corrected by others" {
		t.Errorf("a row that others have corrected: %v", it)
	}
}

// A person may have the rows of others recounted. From then on they follow the feed.
func TestRowsOfOthersAreRecounted(t *testing.T) {
	r := newRig(t)
	key := attr.Item{"teamId": attr.S("10")}
	r.foreign(tables.Teams, attr.Item{"teamId": attr.S("10"), "name": attr.S("Lions"), "sponsor": attr.S("of others")})
	team := reference.TeamRecord{TeamID: "10", Name: "England"}
	r.teams(1, team)
	var others []derived.Row
	unit := r.read.SetTeams(team)
	r.do(func(tx *store.Tx) (err error) { others, err = r.read.TeamRows.Differences(tx, unit); return err })
	if n, err := r.read.TeamRows.Adopt(t.Context(), r.Store, unit, derived.Fingerprint(others)); n != 1 || err != nil {
		t.Errorf("%d rows recounted, %v", n, err)
	}
	team.Name = "England and Wales"
	r.teams(0, team)
	if it := r.row(tables.Teams, key); it["name"].Str() != team.Name || it["sponsor"].Str() != "of others" {
		t.Errorf("recounted: %v", it)
	}
}

// A row counts as this program's after an admin has set attributes of it, and other attributes follow the feed.
func TestRowFollowsTheFeedAfterAnAdminsChange(t *testing.T) {
	r := newRig(t)
	team := reference.TeamRecord{TeamID: "10", Name: "England", Code: "ENG"}
	r.teams(0, team)
	r.do(func(tx *store.Tx) error {
		_, err := reference.Teams{}.Patch(tx, "10", reference.TeamPatch{Name: new("Lions")})
		return err
	})
	team.Name, team.Code = "England and Wales", "EAW"
	r.teams(0, team)
	if it := r.row(tables.Teams, attr.Item{"teamId": attr.S("10")}); it["name"].Str() != "Lions" || it["code"].Str() != "EAW" {
		t.Errorf("%v", it)
	}
}

// While a match cannot be read, results stay as they are, and the rest follows the feed.
func TestResultsWaitForUnreadableMatch(t *testing.T) {
	r := newRig(t)
	r.play("1", 10, 10, 20)
	r.seasons(0, "10")
	r.play("2", 10, 10, 20)
	r.foreign(tables.Fixtures, attr.Item{"matchId": attr.S("3"), "leagueCode": attr.S("T20I"), "startTime": attr.Time(r.now), "teams": attr.S("wrong")})
	if out := r.seasons(0, "10", "20"); len(out.Unread) != 1 || !strings.Contains(out.Unread[0], "Match 3 cannot be read") {
		t.Errorf("unread: %q", out.Unread)
	}
	key := func(team string) attr.Item { return attr.Item{"seasonId": attr.S("1715"), "teamId": attr.S(team)} }
	if n, _ := r.row(tables.TeamSeasons, key("10"))["played"].Int(); n != 1 || r.row(tables.TeamSeasons, key("20")) != nil {
		t.Errorf("%d matches played, and the other team has %v", n, r.row(tables.TeamSeasons, key("20")))
	}
}

func TestStandings(t *testing.T) {
	fx := func(season string, phase cricket.Phase, winner int64, a, b int64) matches.Fixture {
		return matches.Fixture{SeasonID: season, LeagueID: 3, Phase: phase, WinnerID: winner, Teams: []matches.FixtureTeam{{ID: a}, {ID: b}}}
	}
	off := func(status string, phase cricket.Phase) matches.Fixture {
		f := fx("1", phase, 0, 10, 20)
		f.Status = status
		return f
	}
	got := reference.Standings([]matches.Fixture{
		off("Postp.", cricket.PhasePostponed), off("Postp.", cricket.PhaseAbandoned), off("Cancl.", cricket.PhaseAbandoned), // none is played
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
