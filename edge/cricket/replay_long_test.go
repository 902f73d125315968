//go:build long

package cricket_test

import (
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay"
)

// Every recorded match gives the score, the result and the events that an independent count over its record gives.
func TestAllRecordedMatches(t *testing.T) {
	want := readExpected(t)
	for _, m := range replay.List() {
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			agree(t, play(t, m.ID, true), want[m.ID])
		})
	}
}
