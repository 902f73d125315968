package replica

import (
	"testing"

	"github.com/touchline/touchline/store"
)

// An entry of a transaction is found in its unit, also where one with a unit of its own was written before it in the same
// Update and lies in the same lane.
func TestAnEntryIsFoundBehindAnotherUnit(t *testing.T) {
	_, n := opened(t, func(c *Config) { c.Lanes = 1 })
	put := func(seqs ...uint64) *unit {
		u := &unit{id: unitID{seq: seqs[0]}}
		for _, seq := range seqs {
			u.Unit.Entries = append(u.Unit.Entries, logEntry(seq, "teams"))
		}
		return u
	}
	n.inTx(t, func(tx *store.Tx) error {
		for _, u := range []*unit{put(10, 12), put(11)} {
			if err := putUnit(tx, u, tally{}); err != nil {
				return err
			}
		}
		for seq, want := range map[uint64]uint64{10: 10, 11: 11, 12: 10, 9: 0, 13: 0} {
			u, err := n.findUnit(tx, seq)
			if err != nil || (u == nil) != (want == 0) || u != nil && u.id.seq != want {
				t.Errorf("entry %d: in %v, %v; want unit %d", seq, u, err, want)
			}
		}
		return nil
	})
}
