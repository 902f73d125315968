//go:build long

package cricket_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay"
)

var seedsOfLies = flag.Int("cricket.lies", 1, "how many seeds of lies each recorded match is told with")

// maxRow is what a row of active-matches may be, in bytes.
const maxRow = 5 * 1024

// Every recorded match with and without lies: the row stays small at every tick, and what was told is true or was
// corrected.
func TestEveryMatchUnderLies(t *testing.T) {
	for _, info := range replay.List() {
		t.Run(info.ID, func(t *testing.T) {
			t.Parallel()
			clean := follow(t, info.ID, 0, true)
			clean.hours(t)
			biggest := clean.biggest
			for seed := range uint64(*seedsOfLies) {
				t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
					lied := follow(t, info.ID, seed+1, true)
					honest(t, &clean, &lied)
					biggest = max(biggest, lied.biggest)
				})
			}
			if biggest > maxRow {
				t.Errorf("the row grew to %d bytes", biggest)
			}
			t.Logf("row %d bytes clean, %d in all, %d events, %d alerts", clean.biggest, biggest, len(clean.rows), len(clean.alerts))
		})
	}
}
