package pickem

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/storetest"
)

const (
	tableName = "pickem-test"
	event     = "2024-03-03-aew-revolution"
)

var start = time.Date(2024, 3, 4, 1, 0, 0, 0, time.UTC)

// rig is a service on a store whose clock the test sets.
type rig struct {
	*Service
	t   *testing.T
	now time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, now: start.Add(-24 * time.Hour)}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return r.now }}, Table(tableName, "GSI"))
	r.Service = &Service{Store: s, Handle: Rows(tableName), Index: "GSI"}
	return r
}

func (r *rig) try(do func(tx *store.Tx) error) error { return r.Store.Update(r.t.Context(), do) }

func (r *rig) must(do func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.try(do); err != nil {
		r.t.Fatal(err)
	}
}

func read[T any](r *rig, do func(tx *store.Tx) (T, error)) (v T) {
	r.t.Helper()
	if err := r.Store.View(r.t.Context(), func(tx *store.Tx) (err error) {
		v, err = do(tx)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return v
}

// load reads an event with the predictions of one user, or of everybody.
func (r *rig) load(tx *store.Tx, event, user string) (Card, error) {
	p := r.plan(tx)
	return p.load(event, user), p.Err()
}

// card creates users and an event with a match for each number of points. It returns the IDs of the matches.
func (r *rig) card(date string, points []int, users ...string) (id string, matches []string) {
	r.t.Helper()
	day, err := time.Parse(Day, date)
	if err != nil {
		r.t.Fatal(err)
	}
	r.must(func(tx *store.Tx) error {
		c, err := r.CreateEvent(tx, NewEvent{Date: date, Name: "AEW Revolution", StartsAt: day.Add(25 * time.Hour)})
		id = c.ID
		for i := 0; err == nil && i < len(points); i++ {
			var m Match
			m, err = r.AddMatch(tx, id, "", Details{Name: fmt.Sprint("Match ", i+1), Points: points[i], Teams: []Team{{Members: []string{"A"}}, {Members: []string{"B"}}}})
			matches = append(matches, m.ID)
		}
		for _, u := range users {
			if err == nil {
				_, err = r.Invite(tx, u, u)
			}
		}
		return err
	})
	return id, matches
}

func (r *rig) pick(user, event, match string, team int) error {
	return r.try(func(tx *store.Tx) error {
		_, err := r.Predict(tx, user, event, map[string]*int{match: &team})
		return err
	})
}

func (r *rig) picks(user, event, match string, team int) {
	r.t.Helper()
	if err := r.pick(user, event, match, team); err != nil {
		r.t.Fatal(err)
	}
}

// results locks an event and sets its results, in the order of the card.
func (r *rig) results(event string, teams ...int) {
	r.t.Helper()
	r.must(func(tx *store.Tx) error {
		c, err := r.SetState(tx, event, Broadcast)
		if c.State == Scored {
			err = nil
		}
		by := map[string]*int{}
		for i, team := range teams {
			if by[c.Matches[i].ID] = &team; team == NoContest {
				by[c.Matches[i].ID] = nil
			}
		}
		if err == nil {
			_, err = r.SetResults(tx, event, by)
		}
		return err
	})
}

func (r *rig) score(event string) {
	r.t.Helper()
	if _, err := r.Score(r.t.Context(), event); err != nil {
		r.t.Fatal(err)
	}
	r.recounted(yearOf(event))
}

// recounted checks the rows of standings, and the points of predictions, against a recount of picks and results.
func (r *rig) recounted(year string) {
	r.t.Helper()
	want := read(r, func(tx *store.Tx) (map[string]Standing, error) {
		p := r.plan(tx)
		return p.recount(year, (*Event).counts), p.Err()
	})
	got := read(r, func(tx *store.Tx) ([]Standing, error) { return r.Standings(tx, year) })
	for i := range got {
		st := got[i]
		st.Rank, st.Name = 0, ""
		if w := want[st.User]; w != st {
			r.t.Errorf("standing %+v, recounted %+v", st, w)
		}
		if i > 0 && got[i-1].Points < st.Points {
			r.t.Errorf("%s has more points than %s, but comes later", st.User, got[i-1].User)
		}
	}
	if len(got) != len(want) {
		r.t.Errorf("%d standings, recounted %d", len(got), len(want))
	}
}

// item returns a stored row.
func (r *rig) item(k attr.Item) attr.Item {
	r.t.Helper()
	return read(r, func(tx *store.Tx) (attr.Item, error) { return tx.Get(tableName, k) })
}

// derive derives all rows as the node does, and fails the test unless as many rows of points and of standings are left as wanted. It returns
// why rows are held.
func (r *rig) derive(points, standings int) (held []string) {
	r.t.Helper()
	var left []int
	for _, rule := range r.DerivedRules() {
		units := read(r, func(tx *store.Tx) ([]string, error) { return rule.Units(tx, nil) })
		n := 0
		for _, unit := range units {
			out, err := rule.SettleUnit(r.t.Context(), r.Store, unit)
			if err != nil {
				r.t.Fatal(err)
			}
			n += len(out.Others)
			held = append(held, out.Held...)
		}
		left = append(left, n)
	}
	if left[0] != points || left[1] != standings {
		r.t.Errorf("%d rows of points and %d of standings are left, want %d and %d", left[0], left[1], points, standings)
	}
	return held
}

// adopt has the rows of a unit recounted, as a person does.
func (r *rig) adopt(rule *derived.Rule, unit string, want int) {
	r.t.Helper()
	rows := read(r, func(tx *store.Tx) ([]derived.Row, error) { return rule.Differences(tx, unit) })
	if n, err := rule.Adopt(r.t.Context(), r.Store, unit, derived.Fingerprint(rows)); n != want || err != nil {
		r.t.Errorf("%d rows recounted, want %d: %v", n, want, err)
	}
}
