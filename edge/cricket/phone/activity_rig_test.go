package phone

import (
	"path/filepath"
	"strings"
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

// userRig is a store with one fixture and a clock set by hand.
type userRig struct {
	t   *testing.T
	s   *store.Store
	now time.Time
}

var matchDay = time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)

func newUserRig(t *testing.T) *userRig {
	t.Helper()
	r := &userRig{t: t, now: matchDay.Add(-time.Hour)}
	r.s = storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, Now: func() time.Time { return r.now }}, tables.All()...)
	r.fixture(matches.Fixture{MatchID: "7", StartTime: matchDay, Type: "ODI", Phase: cricket.PhasePrematch, LeagueCode: "CWC"})
	return r
}

func (r *userRig) fixture(f matches.Fixture) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error { return putFixture(tx, f) })
}

func putFixture(tx *store.Tx, f matches.Fixture) error {
	item, err := attr.Marshal(f)
	if err != nil {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: tables.Fixtures, Item: item})
	return err
}

// active gives a match a row in active-matches.
func (r *userRig) active(id, status string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		item := attr.Item{"matchId": attr.S(id), "status": attr.S(status)}
		_, err := tx.Put(store.PutItem{Table: tables.ActiveMatches, Item: item})
		return err
	})
}

// do runs a transaction that must succeed.
func (r *userRig) do(f func(*store.Tx) error) {
	r.t.Helper()
	if err := r.s.Update(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
}

// refused runs a transaction that must fail with an error of the given kind.
func (r *userRig) refused(kind fault.Kind, f func(*store.Tx) error) {
	r.t.Helper()
	if err := r.s.Update(r.t.Context(), f); !fault.Is(err, kind) {
		r.t.Errorf("%v, want kind %d", err, kind)
	}
}

// token returns a token that repeats one letter.
func token(letter string) string { return strings.Repeat(letter, 64) }
