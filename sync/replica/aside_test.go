package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// An update finds its item gone, and the look at the table, which reports whether that may be believed, is not answered:
// nothing is taken from the answer but that the update was sent. What is written behind it is not folded into it.
func TestAttemptedStaysWhereTheTableIsNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) { cfg.Poll = nil })
		n.put(t, "teams", team("one", 1))
		letPass(10 * time.Second)
		c.foreign(t, "teams", teamKey("one"), nil)
		c.refuse(intent.Unknown, func(op, table string) bool { return op == "table" && table == "teams" })
		write := func(name string) (seq uint64) {
			n.inTx(t, func(tx *store.Tx) error {
				u := store.UpdateItem{Table: "teams", Key: teamKey("one"), Update: "SET v = :v", Condition: "attribute_exists(id)"}
				u.Values = attr.Item{":v": attr.S(name)}
				_, err := tx.Update(u)
				seq = tx.Seq()
				return err
			})
			return seq
		}
		first := write("first")
		letPass(5 * time.Second)
		if c.count("table teams") < 2 {
			t.Fatal("nobody has looked at the table")
		}
		second := write("second")
		c.heal()
		var ids []outbox.ID
		var sent int
		err := n.st.View(t.Context(), func(tx *store.Tx) error {
			return outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
				ids = append(ids, u.ID)
				sent += u.Entries[0].Sent
				return true, nil
			})
		})
		if err != nil || len(ids) != 2 || ids[0].Seq != first || ids[1].Seq != second || sent != 1 {
			t.Errorf("in the outbox are %v, sent %d times: %v", ids, sent, err)
		}
		letPass(2 * time.Minute)
		for _, seq := range []uint64{first, second} {
			if p, err := n.Proved(t.Context(), seq); err != nil || p != ProofRefused {
				t.Errorf("%d: %v %v", seq, p, err)
			}
		}
	})
}
