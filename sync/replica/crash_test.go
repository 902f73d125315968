package replica_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// The process dies at each step of sending in turn, and the next one continues from the file: every write takes effect once.
func TestCrashAtEachStep(t *testing.T) { diesAtEach(t, 2, false) }

// The same with lost answers, each of which is looked up again.
func TestCrashAtEachStepWithLostAnswers(t *testing.T) { diesAtEach(t, 3, true) }

// diesAtEach makes the process die at each step; a short run tries every second or third, from a random start.
func diesAtEach(t *testing.T, short int, lossy bool) {
	t.Helper()
	first, every := 1, 1
	if testing.Short() {
		first, every = 1+rand.IntN(short), short
	}
	dies := 0
	for nth := first; diesAt(t, nth, lossy); nth += every {
		dies++
	}
	if dies*every < 20 {
		t.Errorf("the process died only %d times", dies)
	}
}

// diesAt is crashAt in virtual time: deletes are held for a quarter of an hour after a create that was not answered.
func diesAt(t *testing.T, nth int, lossy bool) (died bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { died = crashAt(t, nth, lossy) })
	return died && !t.Failed()
}

// crashAt makes the process die at the nth step; false means that there were fewer steps.
func crashAt(t *testing.T, nth int, lossy bool) (died bool) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	open := func(path string) *store.Store {
		s, err := store.Open(path, store.Options{Node: "a", NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Define(t.Context(), specs()...); err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := newCloud()
	first := open(path)
	var mu sync.Mutex
	hits := 0
	dead := make(chan struct{})
	gone := make(chan struct{})
	n := nodeOn(t, first, c, func(cfg *replica.Config) {
		cfg.Dir, cfg.Workers = dir, 1
		cfg.Failpoint = func(point string) {
			if !slices.Contains([]string{"send", "answer", "attempted", "settle", "settled"}, point) {
				return // the others' steps have tests of their own
			}
			mu.Lock()
			hits++
			now := hits == nth
			mu.Unlock()
			if !now {
				return
			}
			close(dead) // from here on nothing reaches the copy or the cloud
			<-gone
		}
	})
	if lossy {
		n.conn.setFault(func(i int, _ []intent.Call) fault {
			if i%3 == 0 {
				return fault{after: unknown()}
			}
			return fault{}
		})
	}
	writeAll(n)
	n.run()
	done := make(chan struct{})
	go func() {
		defer close(done)
		over := func() bool {
			select {
			case <-dead:
				return true
			default:
				return n.status().Waiting == 0
			}
		}
		if err := wait.Try(0, "nothing waits, or the node has died", over); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-dead:
	case <-done:
	}
	select {
	case <-dead:
		died = true
	default:
	}
	if died {
		dir = t.TempDir()
		copyAll(t, filepath.Dir(path), dir)
		path = filepath.Join(dir, "store.db")
		n.conn.setFault(func(int, []intent.Call) fault { return fault{before: offline()} })
	}
	close(gone)
	<-done
	n.stop()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(path)
	defer second.Close()
	m := nodeOn(t, second, c, func(cfg *replica.Config) { cfg.Dir = dir })
	m.patience = time.Hour
	m.run()
	m.drained()
	m.same("data", "other")
	check(t, m, nth)
	m.stop()
	storetest.Check(t, second)
	return died
}

// writeAll makes some writes of every kind.
func writeAll(n *node) {
	for i := range 3 {
		p := fmt.Sprint("p", i)
		n.put("data", Item(p, "s", "n", 0))
		n.add("data", key(p, "s"), 1)
		n.add("data", key(p, "s"), 10)
		n.put("data", Item(p, "gone"))
		n.update(func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "data", Key: key(p, "gone")})
			return err
		})
		n.update(func(tx *store.Tx) error {
			one := store.UpdateItem{Table: "data", Key: key(p, "s"), Update: "ADD n :n"}
			one.Values = attr.Item{":n": attr.Int(100)}
			two := store.UpdateItem{Table: "other", Key: key("sum", "s"), Update: "ADD n :n"}
			two.Values = one.Values
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &one}, {Update: &two}}})
		})
	}
}

// check reports what is wrong with the outcome of writeAll.
func check(t *testing.T, n *node, nth int) {
	t.Helper()
	for i := range 3 {
		got, _ := intent.Split(n.conn.cloud.Item("data", key(fmt.Sprint("p", i), "s")))
		if v, _ := got["n"].Int(); v != 111 {
			t.Errorf("death %d: the counter %d is %v, want 111", nth, i, got["n"])
		}
		if got := n.conn.cloud.Item("data", key(fmt.Sprint("p", i), "gone")); got != nil {
			t.Errorf("death %d: the deleted item is there: %v", nth, got)
		}
	}
	got, _ := intent.Split(n.conn.cloud.Item("other", key("sum", "s")))
	if v, _ := got["n"].Int(); v != 300 {
		t.Errorf("death %d: the sum is %v, want 300", nth, got["n"])
	}
	if st := n.status(); st.Conflicts.Kept != 0 {
		found, _, _ := n.r.Conflicts().List(t.Context(), conflict.Query{})
		for _, c := range found {
			t.Errorf("death %d: a conflict: %s %s: %s", nth, c.Kind, c.Code, c.Text)
		}
	}
}

func copyAll(t *testing.T, from, to string) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
