package poll_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
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
		f, found, err := matches.FixtureCache{}.Get(tx, "1")
		if !found || string(f.Raw) == "" || f.CachedAt.Sub(midday()) != 10*time.Minute {
			t.Errorf("%t, cached at %s: %s", found, f.CachedAt, f.Raw)
		}
		if _, found, _ := (matches.FixtureCache{}).Get(tx, "2"); found {
			t.Error("a reply of ten minutes ago counts as fresh")
		}
		return err
	})
}

// Leagues and teams are read at the start and every six hours; squads follow.
func TestReferenceSync(t *testing.T) {
	r := newRig(t)
	r.config.Reference, r.config.Leagues = r.feed, []string{"T20I"}
	r.feed.leagues = []reference.LeagueRecord{
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
		leagues, err := reference.Leagues{}.All(tx)
		if err != nil || len(leagues) != 2 || !leagues[0].Active || leagues[0].Marquee || leagues[1].Active {
			t.Errorf("leagues: %+v, %v", leagues, err)
		}
		teams, err := reference.Teams{}.All(tx)
		if err != nil || len(teams) != 2 {
			t.Errorf("teams: %+v, %v", teams, err)
		}
		rows, err := reference.TeamSeasons{}.OfSeason(tx, "1715")
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
		if j.LastError != "" || j.Runs == 0 && j.Name != "marquee" && j.Name != "prematch" && j.Name != "reconcile" && j.Name != "stand-in" && j.Name != "cache" {
			t.Errorf("job %+v", j)
		}
	}
	want := []string{"cache", "cleanup", "fixtures", "leagues", "marquee", "orchestrator", "prematch", "reconcile", "score", "scores", "seat", "stand-in", "teams"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// Names set by an admin are shown in the match.
func TestAdminNamesAreShown(t *testing.T) {
	r := newRig(t)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		return []cricket.Snapshot{match(1, 3, "1st Innings", int(now.Sub(midday())/time.Second))}
	}
	r.leagueRow("3", true, false)
	name, code := "The Series", "PKN"
	r.do(func(tx *store.Tx) error {
		read := reference.NewReadings()
		if err := read.TeamRows.SettleIn(tx, read.SetTeams(reference.TeamRecord{TeamID: "1", Name: "Pakistan", Code: "PAK"})); err != nil {
			return err
		}
		if _, err := (reference.Teams{}).Patch(tx, "1", reference.TeamPatch{Code: &code}); err != nil {
			return err
		}
		_, err := reference.Leagues{}.Patch(tx, "3", reference.LeaguePatch{Name: &name})
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

// awayLocks cannot be reached until a time after midday.
type awayLocks struct {
	poll.Leases
	clock clock.Clock
	until time.Duration
}

func (l awayLocks) Hold(ctx context.Context, key string) (poll.Lease, error) {
	if l.clock.Now().Before(midday().Add(l.until)) {
		return nil, errors.New("the cloud: offline")
	}
	return l.Leases.Hold(ctx, key)
}

// A node that starts while the cloud is unreachable reads leagues and teams soon after it is back, not hours later.
func TestReferenceIsRetried(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Second, 20 * time.Minute} {
		t.Run(away.String(), func(t *testing.T) {
			r := newRig(t)
			r.config.Reference = r.feed
			r.config.Leases = awayLocks{r.locks.of("a"), r.clock, away}
			r.feed.leagues = []reference.LeagueRecord{{LeagueID: "3", Name: "Twenty20 International", Code: "T20I", Active: true}}
			p := r.run(6*time.Hour - time.Minute)[0]
			for _, what := range []string{"leagues", "teams"} {
				at := r.feed.asked(what)
				if len(at) != 1 || at[0] < away || at[0] > away+5*time.Minute {
					t.Errorf("%s were read at %v", what, at)
				}
			}
			for _, j := range p.Status().Jobs {
				if j.Name == "leagues" && (j.LastError != "" || j.Failed > 5 || away > time.Minute && j.Failed < 4) {
					t.Errorf("the job: %+v", j)
				}
			}
		})
	}
}

// A feed that refuses for an hour is called at a pace that spares its budget.
func TestReferenceBacksOff(t *testing.T) {
	r := newRig(t)
	refusing := &refusedLeagues{script: r.feed, until: time.Hour}
	r.config.Reference = refusing
	r.run(time.Hour + 11*time.Minute)
	if n := len(refusing.at); n < 8 || n > 13 {
		t.Errorf("called %d times in an hour: %v", n, refusing.at)
	}
	for i, gap := range gaps(refusing.at, 0) {
		if gap < 4*time.Minute || gap > 6*time.Minute {
			t.Errorf("try %d came after %s", i+2, gap)
		}
	}
	if len(r.feed.asked("leagues")) != 1 {
		t.Errorf("answered at %v", r.feed.asked("leagues"))
	}
}

// refusedLeagues refuses to list leagues until a time after midday.
type refusedLeagues struct {
	*script
	until time.Duration
	at    []time.Duration
}

func (f *refusedLeagues) Leagues(ctx context.Context) ([]reference.LeagueRecord, error) {
	if now := f.clock.Now().Sub(midday()); now < f.until {
		f.at = append(f.at, now)
		return nil, errors.New("answered 500")
	}
	return f.script.Leagues(ctx)
}

// If the node that holds the lock of leagues and teams has died, another node reads them within minutes.
func TestReferenceOfADeadNode(t *testing.T) {
	r := newRig(t)
	r.config.Reference = r.feed
	if _, err := r.locks.of("dead").Hold(t.Context(), tables.ReferenceLock); err != nil {
		t.Fatal(err)
	}
	r.run(time.Hour)
	if at := r.feed.asked("leagues"); len(at) != 1 || at[0] > 6*time.Minute {
		t.Errorf("called at %v", at)
	}
}
