//go:build long

package cricket_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay"
)

var faultSeeds = flag.Int("cricket.faults", 0, "number of seeds of feed faults to play each recorded match with; 0: one seed for one match in eight")

// maxRow is the largest size of a row of active-matches, in bytes.
const maxRow = 5 * 1024

// In every recorded match, and in some with feed faults, the row stays small at every tick. Every announcement is true or was
// corrected.
func TestEveryMatch(t *testing.T) {
	for i, info := range replay.List() {
		seeds := *faultSeeds
		if seeds == 0 && i%8 == 0 {
			seeds = 1
		}
		t.Run(info.ID, func(t *testing.T) {
			t.Parallel()
			clean := follow(t, info.ID, 0, true)
			clean.hours(t)
			biggest := clean.biggest
			for seed := range uint64(seeds) {
				t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
					faulty := follow(t, info.ID, seed+1, true)
					compare(t, &clean, &faulty)
					biggest = max(biggest, faulty.biggest)
				})
			}
			if biggest > maxRow {
				t.Errorf("the row grew to %d bytes", biggest)
			}
			t.Logf("row %d bytes clean, %d in all, %d events, %d alerts", clean.biggest, biggest, len(clean.rows), len(clean.alerts))
		})
	}
}
