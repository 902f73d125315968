package replica_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// What is sent costs at most a fifth more write units than the application's own calls would have cost, without faults, and
// each create three more, for its proof; over 70 % updates, 20 % creates and 10 % deletes of items of 500 bytes. That these are of the node's own making is the dear
// case: their deletes leave tombstones.
func TestWriteUnits(t *testing.T) {
	const writes = 1000
	n := newNode(t, newCloud(), "a")
	text := strings.Repeat("x", 470)
	kind := func(i int) int { return i * 37 % 100 }
	n.update(func(tx *store.Tx) error {
		for i := range writes {
			if k := kind(i); k >= 70 && k < 90 {
				continue
			}
			if _, err := tx.Put(store.PutItem{Table: "data", Item: Item(fmt.Sprint("p", i), "s", "text", text)}); err != nil {
				return err
			}
		}
		return nil
	})
	n.run()
	n.drained()
	before := n.wire.cloud.Units()
	n.update(func(tx *store.Tx) (err error) {
		for i := range writes {
			switch k, key := kind(i), key(fmt.Sprint("p", i), "s"); {
			case k < 70:
				u := store.UpdateItem{Table: "data", Key: key, Update: "SET n = :n"}
				u.Values = attr.Item{":n": attr.Int(int64(i))}
				_, err = tx.Update(u)
			case k < 90:
				_, err = tx.Put(store.PutItem{Table: "data", Item: Item(fmt.Sprint("p", i), "s", "text", text), Condition: "attribute_not_exists(pk)"})
			default:
				_, err = tx.Delete(store.DeleteItem{Table: "data", Key: key})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	n.drained()
	n.same("data")
	ratio := (n.wire.cloud.Units() - before) / writes
	if proofs := 3 * 0.2; ratio > 1.2+proofs || ratio < 1+proofs {
		t.Errorf("%.3f write units for each write", ratio)
	}
	t.Logf("%.3f write units for each write", ratio)
}
