//go:build long

package edge_test

import (
	"testing"

	"github.com/touchline/touchline/edge"
)

// Every recorded match, through the whole node: feed, client, poller, store, pushes, phones.
func TestDemoOfEveryMatch(t *testing.T) {
	want := readExpected(t)
	for _, m := range edge.Matches() {
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			agree(t, playDemo(t, m.ID, t.TempDir()), want[m.ID])
		})
	}
}
