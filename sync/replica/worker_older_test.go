package replica

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// append appends to a list of an item, which shows the order of the writes.
func (n *feedNode) append(t testing.TB, id string, turn int) {
	t.Helper()
	n.update(t, "teams", teamKey(id), "SET turns = list_append(if_not_exists(turns, :none), :turn)", attr.Item{
		":none": attr.L(), ":turn": attr.L(attr.Int(int64(turn))),
	})
}

// byOlderVersion rewrites the outbox as an earlier version did: an item's batches are with the worker of its partition, not the
// present one, and no place is shared.
func (n *feedNode) byOlderVersion(t testing.TB) {
	t.Helper()
	n.inTx(t, func(tx *store.Tx) error {
		var batches []*outbox.Batch
		err := outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
			batches = append(batches, u)
			return true, nil
		})
		if err != nil {
			return err
		}
		w := n.box.Begin(tx)
		for _, u := range batches {
			old := u.ID
			if err := tx.Side(outbox.SideOutbox).Delete(old.Key()); err != nil {
				return err
			}
			u.ID.Worker = (u.ID.Worker + 5) % n.box.Express()
			if err := tx.Side(outbox.SideOutbox).Set(u.ID.Key(), u.Encode()); err != nil {
				return err
			}
			err := w.EachItem(u, func(it *outbox.WorkItem) { it.Remote.Pending[it.Remote.Index(old)] = outbox.Place{ID: u.ID} })
			if err != nil {
				return err
			}
		}
		for _, it := range w.Order {
			if err := outbox.KeepRemote(tx, &it.Item, it.Remote); err != nil {
				return err
			}
		}
		return nil
	})
}

// What an earlier version has left in the outbox is sent first, in its order, whatever queues it is in; later writes follow.
func TestOutboxOfAnEarlierVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		ids := []string{"a", "b", "c", "d"}
		turn := 0
		write := func() {
			for range 3 {
				turn++
				for _, id := range ids {
					n.append(t, id, turn)
				}
				check := store.ConditionCheck{Table: "teams", Key: teamKey("a"), Condition: "attribute_exists(id)"}
				n.together(t, oneMore("b"), oneMore("c"), store.WriteItem{Check: &check})
			}
		}
		write()
		n.byOlderVersion(t)
		n = n.again(t)
		write()
		n.drained(t)
		want := ""
		for i := range turn {
			want += fmt.Sprint(i+1, " ")
		}
		for _, id := range ids {
			got := ""
			for _, v := range c.team(t, id)["turns"].List() {
				got += v.Str() + " "
			}
			if got != want {
				t.Errorf("%s: the order is %s, want %s", id, got, want)
			}
		}
		if got := c.n(t, "b"); got != int64(turn) {
			t.Errorf("%d transactions were applied, want %d", got, turn)
		}
	})
}
