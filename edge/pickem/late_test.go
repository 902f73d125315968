package pickem

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// A user is told of picks that were not counted until each is made again, even if the match has other teams by then. Other picks do not write
// to the note.
func TestNoteGoesWhenPicksAreMadeAgain(t *testing.T) {
	r := newRig(t)
	id, m := r.card("2024-03-03", []int{5, 5, 5}, "sam")
	r.picks("sam", id, m[0], 1)
	if it := r.item(lateKey("sam", id)); it != nil {
		t.Errorf("a note although no pick was refused: %v", it)
	}
	for _, match := range m {
		r.must(func(tx *store.Tx) error {
			write := r.change("sam", id, map[string]*int{match: nil}, r.now)
			w, ok := r.Merge([]table.Refused{{Key: predictionKey("sam", id), Again: []store.WriteItem{write}}}, nil, func(k attr.Item) (attr.Item, error) { return tx.Get(r.Table, k) })
			if !ok || len(w) != 1 {
				t.Fatal(w, ok)
			}
			_, err := tx.Update(*w[0].Update)
			return err
		})
	}
	told := func(want bool, when string) {
		t.Helper()
		c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "sam") })
		p := read(r, func(tx *store.Tx) (Profile, error) { return r.Profile(tx, "sam", "sam") })
		if c.NotCounted != want || slices.Contains(p.NotCounted, id) != want {
			t.Errorf("%s: %t, %v", when, c.NotCounted, p.NotCounted)
		}
	}
	told(true, "none is made again")
	r.picks("sam", id, m[0], 0)
	told(true, "two are not made again")
	r.must(func(tx *store.Tx) error {
		other, err := r.ChangeMatch(tx, id, m[1], func(d *Details) { d.Teams[0].Name = "C" })
		m[1] = other.ID
		return err
	})
	r.picks("sam", id, m[1], 0)
	told(true, "one is not made again")
	r.must(func(tx *store.Tx) error { _, err := r.Predict(tx, "sam", id, map[string]*int{m[2]: nil}); return err })
	told(false, "all are made again")
}
