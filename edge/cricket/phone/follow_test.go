package phone

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func TestFollow(t *testing.T) {
	r := newUserRig(t)
	add := func(team int64, wantCreated bool) (f Follow) {
		r.do(func(tx *store.Tx) (err error) {
			var created bool
			f, created, err = Follows{}.Add(tx, "7", "u1", team)
			if created != wantCreated {
				t.Errorf("created %v", created)
			}
			return err
		})
		return f
	}
	first := add(0, true)
	if first.ExpiresAt != matchDay.Add(48*time.Hour).Unix() || !first.CreatedAt.Equal(r.now) {
		t.Errorf("follow %+v", first)
	}
	r.now = r.now.Add(time.Minute)
	if again := add(42, false); !again.CreatedAt.Equal(first.CreatedAt) || again.TeamID != 42 {
		t.Errorf("again %+v", again)
	}
	if kept := add(0, false); kept.TeamID != 42 {
		t.Errorf("following again forgot the team: %+v", kept)
	}
	r.do(func(tx *store.Tx) error {
		f, err := Follows{}.SetTeam(tx, "7", "u1", 10)
		if f.TeamID != 10 {
			t.Errorf("team %d", f.TeamID)
		}
		return err
	})
	r.do(func(tx *store.Tx) error { return Follows{}.Remove(tx, "7", "u1") })
	r.refused(fault.NotFound, func(tx *store.Tx) error { return Follows{}.Remove(tx, "7", "u1") })
	r.refused(fault.NotFound, func(tx *store.Tx) error {
		_, err := Follows{}.SetTeam(tx, "7", "u1", 10)
		return err
	})
	r.refused(fault.NotFound, func(tx *store.Tx) error {
		_, err := Follows{}.Get(tx, "7", "u1")
		return err
	})
}

// TestFollowOfALiveMatch gives every device a pending session; the follow of a match that is not live gives none.
func TestFollowOfALiveMatch(t *testing.T) {
	r := newUserRig(t)
	multi := Devices{Multi: true}
	r.register(multi, Device{UserID: "u1", DeviceToken: token("1"), DeviceID: "d1", Platform: "ios"})
	r.register(multi, Device{UserID: "u1", DeviceToken: token("2"), DeviceID: "d2", Platform: "ios"})
	for i, status := range []string{cricket.ActiveIdle, cricket.ActiveLive} {
		r.active("7", status)
		r.do(func(tx *store.Tx) error {
			if _, _, err := (Follows{}).Add(tx, "7", "u1", 0); err != nil {
				return err
			}
			all, err := Activities{}.OfUser(tx, "u1")
			if len(all) != 2*i {
				t.Errorf("%s: %d sessions", status, len(all))
			}
			for _, s := range all {
				if s.Status != SessionPending {
					t.Errorf("%+v", s)
				}
			}
			return err
		})
	}
}

func TestFollowRefused(t *testing.T) {
	r := newUserRig(t)
	r.fixture(matches.Fixture{MatchID: "8", StartTime: matchDay, Phase: cricket.PhaseCompleted, LeagueCode: "CWC"})
	for id, kind := range map[string]fault.Kind{"8": fault.Conflict, "9": fault.NotFound, "": fault.Invalid} {
		r.refused(kind, func(tx *store.Tx) error {
			_, _, err := Follows{}.Add(tx, id, "u1", 0)
			return err
		})
	}
}

// A match that is put off may be followed: whatever its other start is, the follow is there then.
func TestFollowOfAPostponedMatch(t *testing.T) {
	r := newUserRig(t)
	r.fixture(matches.Fixture{MatchID: "8", StartTime: matchDay, Status: "Postp.", Phase: cricket.PhasePostponed, LeagueCode: "CWC"})
	r.do(func(tx *store.Tx) error {
		f, created, err := Follows{}.Add(tx, "8", "u1", 0)
		if until := tx.Now().Add(cricket.KeepPostponed).Unix(); !created || f.ExpiresAt != until {
			t.Errorf("created %t, until %d, want %d", created, f.ExpiresAt, until)
		}
		return err
	})
}

func TestFollowExpiry(t *testing.T) {
	for kind, want := range map[string]int{
		"T20I": 2, "ODI": 2, "100-Ball": 2, "Test": 7, "Test/5day": 7, "4day": 6, "Woman Test": 7, "": 2,
	} {
		f := matches.Fixture{StartTime: matchDay, Type: kind}
		if got := int(f.FollowedUntil(matchDay).Sub(matchDay) / (24 * time.Hour)); got != want {
			t.Errorf("%q: %d days after the start, want %d", kind, got, want)
		}
	}
}

func TestFollowersAndTheirEnd(t *testing.T) {
	r := newUserRig(t)
	r.do(func(tx *store.Tx) error {
		for _, u := range []string{"u1", "u2", "u3"} {
			if _, _, err := (Follows{}).Add(tx, "7", u, 0); err != nil {
				return err
			}
		}
		return nil
	})
	count := func() (n int) {
		r.do(func(tx *store.Tx) error {
			all, err := Follows{}.OfMatch(tx, "7")
			n = len(all)
			return err
		})
		return n
	}
	if n := count(); n != 3 {
		t.Errorf("%d followers", n)
	}
	r.now = matchDay.Add(48*time.Hour + time.Second)
	if n := count(); n != 0 {
		t.Error("a follow is there after its expiry")
	}
}
