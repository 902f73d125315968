package pickemapp

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A node whose clock is set, by hours and either way, goes on reading what others write and sending what it took, as soon as ever.
func TestClockIsSet(t *testing.T) {
	nodes.ClockIsSet(t, nodes.Options{App: New}, prod, func(of *nodes.Apart) func(at string) string {
		w := &apart{Apart: of, matches: map[string][]string{}, starts: []time.Time{of.Clock.Now().Add(10 * 24 * time.Hour).UTC()}}
		event := w.Makes("a", nodes.Boss, "/pickem/admin/events", w.event(0), "", "id")
		w.Settle()
		return func(at string) string {
			w.n++
			w.add(at, event)
			if len(w.matches[event]) != w.n {
				w.T.Fatalf("%d matches are on the card after %d at node %s", len(w.matches[event]), w.n, at)
			}
			return fmt.Sprintf("EVENT#%s MATCH#%s", event, w.matches[event][w.n-1])
		}
	})
}
