package replica

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// An entry of a transaction is found in its batch, also where one with a batch of its own was written before it in the same
// Update and lies in the same lane.
func TestAnEntryIsFoundBehindAnotherUnit(t *testing.T) {
	_, n := opened(t, func(c *Config) { c.Lanes = 1 })
	put := func(seqs ...uint64) *outbox.Batch {
		u := &outbox.Batch{ID: outbox.ID{Seq: seqs[0]}}
		for _, seq := range seqs {
			u.Batch.Entries = append(u.Batch.Entries, &intent.Entry{Write: intent.Write{Seq: seq, Table: "teams", Policy: store.PolicyIntent, Op: store.OpDelete, Key: teamKey(fmt.Sprint(seq))}})
		}
		return u
	}
	n.inTx(t, func(tx *store.Tx) error {
		for _, u := range []*outbox.Batch{put(10, 12), put(11)} {
			if err := outbox.Put(tx, u, outbox.Tally{}); err != nil {
				return err
			}
		}
		for seq, want := range map[uint64]uint64{10: 10, 11: 11, 12: 10, 9: 0, 13: 0} {
			u, err := n.box.Find(tx, seq)
			if err != nil || (u == nil) != (want == 0) || u != nil && u.ID.Seq != want {
				t.Errorf("entry %d: in %v, %v; want unit %d", seq, u, err, want)
			}
		}
		return nil
	})
}
