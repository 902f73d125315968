package intent

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
)

// TestModelOfTransactions: two nodes write two items, alone and together; a transaction is there whole or not at all.
func TestModelOfTransactions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt)
		nodes := []*node{w.node("a"), w.node("bb")}
		txns := map[*node][][]*Entry{}
		if rapid.Bool().Draw(rt, "there before") {
			nodes[1].write(put("t", "i", "", "x", 0))
			nodes[1].write(put("u", "j", "", "x", 0))
			nodes[1].drain()
		}
		one := func(table, id string, i int) op {
			return rapid.SampledFrom([]op{
				update(table, id, "ADD n :n", "", ":n", 1), update(table, id, "SET x = :x", "x < :x", ":x", i), put(table, id, "", "x", i),
				put(table, id, "attribute_not_exists(pk)", "x", i), remove(table, id, ""), remove(table, id, "x < :x", ":x", i),
				check(table, id, "attribute_exists(pk)"), update(table, id, "SET y = :x", "", ":x", i),
			}).Draw(rt, "op")
		}
		for i := range rapid.IntRange(1, 20).Draw(rt, "moves") {
			n := rapid.SampledFrom(nodes).Draw(rt, "node")
			switch rapid.IntRange(0, 9).Draw(rt, "move") {
			case 0, 1:
				if entries, err := n.transact(one("t", "i", i), one("u", "j", i)); err == nil && len(entries) > 0 {
					txns[n] = append(txns[n], entries)
				}
			case 2:
				if o := one("t", "i", i); o.op != 0 {
					n.write(o)
				}
			case 3:
				n.learn("t", "i")
				n.learn("u", "j")
			case 4:
				w.deliver()
			case 5:
				n.crash()
			case 6:
				w.now = w.now.Add(20 * time.Minute)
			default:
				n.step(rapid.SampledFrom([]fate{arrive, loseAnswer, loseRequest, delay, throttle}).Draw(rt, "fate"))
			}
		}
		for range 3 {
			nodes[0].drain()
			nodes[1].drain()
			w.deliver()
		}
		for _, n := range nodes {
			for seq := uint64(1<<40 + 1); seq <= n.seq; seq++ {
				o, ok := n.done[seq]
				effects := w.cloud.effects[WriteID(n.name, seq)]
				if !ok || effects > 1 || o.Result == OutTimeline || o.Result == OutQuarantine {
					rt.Fatalf("entry %d of %s: %v, result %d, %d effects\n%v", seq-1<<40, n.name, ok, o.Result, effects, w.log)
				}
				if o.Result == OutConflict && (o.Code == CodeCondition || o.Code == CodeDeleted) && effects > 0 {
					rt.Fatalf("entry %d of %s was applied and is reported as %s\n%v", seq-1<<40, n.name, o.Code, w.log)
				}
			}
			for _, txn := range txns[n] {
				for _, e := range txn {
					o := n.done[e.Seq]
					if o.Result != n.done[txn[0].Seq].Result {
						rt.Fatalf("half of a transaction: %v", w.log)
					}
					effects := w.cloud.effects[WriteID(n.name, e.Seq)]
					if e.Txn != 0 && e.Op != store.OpDelete && (o.Result == OutApplied) != (effects == 1) {
						rt.Fatalf("entry %d of %s: result %d, %d effects\n%v", e.Seq-1<<40, n.name, o.Result, effects, w.log)
					}
				}
			}
			n.learn("t", "i")
			n.learn("u", "j")
			if got, want := show(n.view("t", "i"))+show(n.view("u", "j")), show(w.item("t", "i"))+show(w.item("u", "j")); got != want {
				rt.Fatalf("%s shows %s, the cloud has %s", n.name, got, want)
			}
		}
	})
}
