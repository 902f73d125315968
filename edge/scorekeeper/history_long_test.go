//go:build long

package scorekeeper

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
)

// The history of one player among 100,000 games reads only that player's rows.
func TestHistoryAmongManyRows(t *testing.T) {
	r := newRig(t)
	const days, players, at = 60, 1700, 42
	words := r.Words.Answers()
	first := r.now.AddDate(0, 0, -days).Truncate(24 * time.Hour)
	for d := range days {
		r.must(func(tx *store.Tx) error {
			day := first.AddDate(0, 0, d)
			if _, err := r.SetAnswer(tx, NewAnswer{Date: day.Format(Day), Word: words[d]}); err != nil {
				return err
			}
			for p := range players {
				if err := r.Import(tx, fmt.Sprintf("auth0|%d", p), []string{"crane", "slate", words[d]}, day.Add(time.Hour)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var best time.Duration
	for i := range 5 {
		began := time.Now()
		h := read(r, func(tx *store.Tx) (History, error) { return r.History(tx, fmt.Sprintf("auth0|%d", at)) })
		if took := time.Since(began); i == 0 || took < best {
			best = took
		}
		if h.Total != days || h.Won != days {
			t.Fatalf("%d games, %d won", h.Total, h.Won)
		}
	}
	t.Logf("a history of %d among %d games: %v", days, days*players, best)
	if best > 20*time.Millisecond {
		t.Errorf("%v, want 20 ms at most", best)
	}
}
