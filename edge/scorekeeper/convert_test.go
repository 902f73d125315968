package scorekeeper

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (r *rig) convert(account, session string) (c Conversion, err error) {
	err = r.update(func(tx *store.Tx) (err error) {
		c, err = r.Convert(tx, account, session)
		return err
	})
	return c, err
}

func TestConvert(t *testing.T) {
	r := newRig(t)
	r.now = r.now.AddDate(0, 1, 0)
	for _, d := range []string{"2026-02-06", "2026-02-07", "2026-02-08"} {
		r.answerIs(d, "manna")
	}
	r.plays(anon, "2026-02-06", "crane")
	r.plays(user, "2026-02-07", "slate") // begun before the session's
	r.plays(anon, "2026-02-07", "moist", "brick")
	r.plays(anon, "2026-02-08", "proud", "manna") // begun before the account's
	r.plays(user, "2026-02-08", "fjord")

	got, err := r.convert(user, anon)
	if err != nil || got.Converted != 2 || got.Conflicts != 2 || !slices.Equal(got.Dates, []string{"2026-02-06", "2026-02-08"}) {
		t.Errorf("%+v, %v", got, err)
	}
	games := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, user) })
	for i, want := range [][]string{{"crane"}, {"slate"}, {"proud", "manna"}} {
		if g := games[i]; !slices.Equal(g.Guesses, want) || g.UserID != user {
			t.Errorf("%s: %+v", g.Date, g)
		}
	}
	if left := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, anon) }); len(left) != 0 {
		t.Errorf("the session still has %v", left)
	}
	if again, err := r.convert(user, anon); err != nil || again.Converted != 0 || again.Conflicts != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// More games than a transaction holds go by several.
func TestConvertMany(t *testing.T) {
	r := newRig(t)
	first := time.Date(2025, 10, 1, 0, 0, 0, 0, time.UTC)
	r.now = first.AddDate(0, 6, 0)
	for i := range 2*perTransaction + 3 {
		d := first.AddDate(0, 0, i).Format(Day)
		r.answerIs(d, "manna")
		r.plays(anon, d, "crane")
	}
	if got, err := r.convert(user, anon); err != nil || got.Converted != 2*perTransaction+3 {
		t.Errorf("%d, %v", got.Converted, err)
	}
	if h := read(r, func(tx *store.Tx) (History, error) { return r.History(tx, user) }); h.Total != 2*perTransaction+3 {
		t.Errorf("the account has %d", h.Total)
	}
}

func TestConvertRefuses(t *testing.T) {
	r := newRig(t)
	for _, session := range []string{"", "auth0|123", "F47AC10B-58CC-4372-A567-0E02B2C3D479", "f47ac10b58cc4372a5670e02b2c3d479", user, "urn:uuid:" + anon} {
		if _, err := r.convert(user, session); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", session, err)
		}
	}
	if _, err := r.convert(anon, anon); !fault.Is(err, fault.Invalid) {
		t.Errorf("one's own id: %v", err)
	}
}
