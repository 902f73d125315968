package matches_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
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

// copied returns a copy of the current snapshot, which later balls do not change.
func (s *script) copied() cricket.Snapshot {
	c := s.snap
	c.Innings, c.Batting = slices.Clone(c.Innings), slices.Clone(c.Batting)
	c.Bowling, c.Balls = slices.Clone(c.Bowling), slices.Clone(c.Balls)
	return c
}

func eventRowKey(matchID, key string) attr.Item {
	return attr.Item{"matchId": attr.S(matchID), "eventKey": attr.S(key)}
}
