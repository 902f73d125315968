package simulation_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// A write and a cloud image adopted after it may share a commit, so that the writer reads the image at once: the write is in the view if
// it holds on the image, and doubtful if not. The simulation accepts only the second.
func TestReadsItsWriteBesideAnImageOfTheSameCommit(t *testing.T) {
	for _, tt := range []struct {
		name             string
		field, condition string
		id               string // the write according to the book
		foreign          bool   // another writer has written meanwhile
		doubtful         int64
		violated         bool
	}{
		{name: "it holds", field: "a", id: "mine", foreign: true},
		{name: "its condition does not", field: "v", condition: "v = :seen", id: "mine", foreign: true, doubtful: 1},
		{name: "no image came", field: "v", condition: "v = :seen", id: "other", violated: true},
		{name: "it holds and is not there", field: "a", id: "other", foreign: true, violated: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := newScene(t, newSimStage(true))
				n := sc.node("n1")
				sc.foreignPut("items", row("x", "v", "old"))
				sc.round()
				n.tap.with(func(tap *tap) { tap.shut = "items" })
				params := values(":v", "mine")
				if tt.condition != "" {
					params = values(":v", "mine", ":seen", "old")
				}
				seq := inOneCommit(n, func() {
					if tt.foreign {
						sc.foreignPut("items", row("x", "v", "new"))
					}
				}, "SET "+tt.field+" = :v", tt.condition, params)

				st, err := n.Status(t.Context())
				must(t, err)
				if there := n.see("items", pk("x")); st.Doubtful != tt.doubtful || tt.foreign != holds(there, "new") {
					t.Fatalf("%d doubtful, there is %s", st.Doubtful, tell(there))
				}
				s := &sim{TB: t, net: n.sc.stage.(*simStage).net}
				s.book = newBook(s)
				life := &simLife{n: newSimNode(s, "n1"), store: n.store, rep: n.Replica}
				s.book.reads(life, []*act{{node: "n1", seq: seq, table: "items", key: pk("x"), op: store.OpUpdate, id: tt.id}})
				if s.broken() != tt.violated {
					t.Errorf("violated: %v", s.failed)
				}
			})
		})
	}
}

// Half of a waiting transaction is seen alone only if the other half is doubtful on an item that a restored cloud has lost.
func TestHalfOfATransactionOnWhatIsLost(t *testing.T) {
	restored := time.Unix(1e9, 0)
	for _, tt := range []struct {
		name     string
		restored bool
		lost     time.Duration // after the restore
		doubtful bool
		violated bool
	}{
		{name: "lost by the restore", restored: true, doubtful: true},
		{name: "no restore", doubtful: true, violated: true},
		{name: "there since the restore", restored: true, lost: -time.Second, doubtful: true, violated: true},
		{name: "not doubtful", restored: true, violated: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := newScene(t, newSimStage(true))
				n := sc.node("n1")
				sc.foreignPut("pairs", row("p0-left", "v", "old"))
				sc.foreignPut("pairs", row("p0-right", "v", "old"))
				sc.round()
				n.tap.with(func(tap *tap) { tap.deaf, tap.shut = true, simSync }) // nor can it be closed
				set := func(key, v string) store.WriteItem {
					return store.WriteItem{Update: &store.UpdateItem{
						Table: "pairs", Key: pk(key), Update: "SET v = :v", Condition: "v = :seen", Params: values(":v", v, ":seen", "old"),
					}}
				}
				left := "mine"
				if !tt.doubtful {
					left = "not the same"
				}
				last := n.must(func(tx *store.Tx) error {
					return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{set("p0-left", left), set("p0-right", "mine")}})
				})
				if tt.doubtful {
					sc.foreignPut("pairs", row("p0-left", "v", "new"))
					sc.round()
				}
				s := &sim{TB: t, net: n.sc.stage.(*simStage).net}
				s.book = newBook(s)
				for i, key := range []string{"p0-left", "p0-right"} {
					s.book.acknowledge(&act{node: "n1", seq: last - 1 + uint64(i), table: "pairs", key: pk(key), op: store.OpUpdate, id: "mine"})
				}
				s.book.states["pairs p0-left"] = []stateAt{{n: 1, at: restored.Add(tt.lost)}, {n: 2, at: restored.Add(time.Minute), there: true}}
				if tt.restored {
					s.book.backs = []cloudBack{{when: restored}}
				}
				s.book.pair(&simLife{n: newSimNode(s, "n1"), store: n.store, rep: n.Replica}, 0)
				if s.broken() != tt.violated {
					t.Errorf("violated: %v", s.failed)
				}
			})
		})
	}
}

// Another node's later half is seen beside this node's other half if a restore removed both after it was read, and nowhere else.
func TestHalfOfATransactionThatWasReadThenLost(t *testing.T) {
	restored := time.Unix(1e9, 0)
	for _, tt := range []struct {
		name     string
		restored bool
		later    time.Duration // of the other's transaction, before the restore
		first    bool          // the other's came before this node's own
		want     bool
	}{
		{name: "read, then lost", restored: true, later: time.Second, want: true},
		{name: "no restore", later: time.Second},
		{name: "since the restore", restored: true, later: -time.Second},
		{name: "the own one was over it", restored: true, later: time.Second, first: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(&sim{TB: t})
			if tt.restored {
				b.backs = []cloudBack{{when: restored}}
			}
			image := func(id string) attr.Item { return attr.Item{"pk": attr.S("p2-right"), "v": attr.S(id)} }
			ids := []string{"mine", "theirs"}
			if tt.first {
				slices.Reverse(ids)
			}
			for i, at := range []time.Duration{time.Minute, tt.later} {
				b.images["pairs p2-right"] = append(b.images["pairs p2-right"], imageAt{at: restored.Add(-at), text: imageText(image(ids[i]))})
			}
			if got := b.readThenLost(pk("p2-right"), "mine", image("theirs")); got != tt.want {
				t.Errorf("accepted: %t", got)
			}
		})
	}
}

// inOneCommit makes a write on items x wait for its turn until the feed has read what others have written meanwhile and waits behind it.
// It returns the write's sequence once it is done.
func inOneCommit(n *player, others func(), update, condition string, params expr.Params) (seq uint64) {
	var both sync.WaitGroup
	turn := make(chan struct{})
	both.Go(func() {
		n.must(func(*store.Tx) error {
			<-turn
			return nil
		})
	})
	synctest.Wait()
	both.Go(func() { seq = n.update("items", "x", update, condition, params) })
	synctest.Wait()
	others()
	n.sc.pass(10 * time.Second)
	close(turn)
	both.Wait()
	return seq
}
