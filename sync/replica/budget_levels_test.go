package replica

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// At 60 % of a budget there is a warning, at 80 % the replay log goes, before any write is refused.
func TestFirstLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, func(c *Config) { c.Budget.Entries = 10 })
		at := func(count int) Status {
			for i := int(n.waitingNow(t)); i < count; i++ {
				n.put(t, "teams", team(fmt.Sprint(i), 1))
			}
			n.doChores(t, n.clock.Now())
			return n.status(t)
		}
		at(1)
		n.logSent(t, "teams", teamKey("0"), n.clock.Now())
		if st := at(5); st.Budget.Level != flow.LevelOK || len(st.Alarms) != 0 {
			t.Errorf("at 50 %%: %+v, %q", st.Budget, st.Alarms)
		}
		if st := at(6); st.Budget.Level != flow.LevelWarn || !strings.Contains(strings.Join(st.Alarms, ""), "from 90 % on, writes are refused") {
			t.Errorf("at 60 %%: %+v, %q", st.Budget, st.Alarms)
		}
		at(7)
		n.wantLogged(t, 1, "at 70 %")
		if st := at(8); st.Budget.Level != flow.LevelTight || st.Budget.Refused != 0 {
			t.Errorf("at 80 %%: %+v", st.Budget)
		}
		n.wantLogged(t, 0, "at 80 %")
	})
}

// The replay log keeps to its size: the oldest entries go first.
func TestReplayLogKeepsToItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 2000
		_, n := opened(t, func(c *Config) { c.Budget.ReplayBytes = limit })
		var last time.Time
		for i := range 30 {
			id := fmt.Sprint(i)
			n.put(t, "teams", team(id, 1))
			last = n.clock.Now()
			n.logSent(t, "teams", teamKey(id), last)
			letPass(time.Second)
		}
		for more := true; more; {
			var err error
			if more, err = n.chores(t.Context(), n.serverNow()); err != nil {
				t.Fatal(err)
			}
		}
		n.inView(t, func(tx *store.Tx) error {
			s, err := outbox.ReadReplaySums(tx)
			if err != nil {
				return err
			}
			kept, newest := 0, time.Time{}
			err = outbox.EachReplayed(tx, time.Time{}, func(at time.Time, _ []*intent.Entry) (bool, error) {
				kept, newest = kept+1, at
				return true, nil
			})
			if s.Bytes > limit || s.Bytes < limit/2 || kept == 0 || kept == 30 || newest.UnixMilli() != last.UnixMilli() {
				t.Errorf("%d bytes in %d writes, the newest of %s, written %s", s.Bytes, kept, newest, last)
			}
			return err
		})
	})
}

// Near the end of any budget, only writes that do not grow an item are accepted, and then none. The refusal names the budget, and says
// that the disk is full if that is short.
func TestLastLevels(t *testing.T) {
	const short, long = "short", "a good deal longer than that"
	for _, c := range []struct {
		which string
		kind  fault.Kind
		fill  func(n *feedNode, share float64) // fills a share of the budget, and then runs the housekeeping
	}{
		{"conflicts", fault.Unavailable, func(n *feedNode, share float64) { n.levels.Measure(2, 0, share) }},
		{"disk", fault.Full, func(n *feedNode, share float64) { n.levels.Measure(2, share, 0) }},
		{"bytes", fault.Unavailable, func(n *feedNode, share float64) {
			var all outbox.Counts
			if err := n.st.View(t.Context(), func(tx *store.Tx) (err error) {
				all, err = outbox.ReadCounts(tx)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			n.cfg.Budget.Bytes = int64(float64(all.Total().Bytes) / share)
		}},
	} {
		t.Run(c.which, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n := opened(t, nil)
				n.put(t, "teams", attr.Item{"id": attr.S("x"), "text": attr.S(short + short)})
				write := func(id, text string) error {
					return n.st.Update(t.Context(), func(tx *store.Tx) error {
						_, err := tx.Put(store.PutItem{Table: "teams", Item: attr.Item{"id": attr.S(id), "text": attr.S(text)}})
						return err
					})
				}
				refused := func(when string, err error) {
					t.Helper()
					r, ok := errors.AsType[*flow.RefusedError](err)
					if !ok || r.State.Which != c.which || !fault.Is(err, c.kind) || r.RetryAfter() <= 0 {
						t.Errorf("%s: %v", when, err)
					}
				}
				c.fill(n, 0.96)
				refused("a new item at 96 %", write("y", short))
				refused("a longer one", write("x", long))
				if err := write("x", short); err != nil {
					t.Errorf("one that becomes shorter: %v", err)
				}
				c.fill(n, 0.99)
				refused("a shorter one at 99 %", write("x", ""))
				c.fill(n, 0.5)
				if err := write("x", long); err != nil {
					t.Errorf("with room again: %v", err)
				}
			})
		})
	}
}

// The store's disk counts: its limit, or what the file system has left.
func TestDiskIsChecked(t *testing.T) {
	s, err := store.OpenMemory(store.Options{Node: "a", MaxSize: 32 << 20, JournalBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	specs := append(feedTables(), store.TableSpec{
		Name: "here", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyLocal,
	})
	if err := s.Define(t.Context(), specs...); err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{Store: s, Cloud: newShelf(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := 0; s.Disk().Share() < 0.65; i++ {
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "here", Item: attr.Item{"id": attr.S(fmt.Sprint(i)), "text": attr.S(strings.Repeat("x", 50_000))}})
			return err
		}); err != nil {
			t.Fatalf("at %.0f %%: %v", 100*s.Disk().Share(), err)
		}
	}
	if _, err := r.chores(t.Context(), r.serverNow()); err != nil {
		t.Fatal(err)
	}
	if st, err := r.Status(t.Context()); err != nil || st.Budget.Which != "disk" || st.Budget.Level < flow.LevelWarn {
		t.Errorf("%+v, %v", st.Budget, err)
	}
}

// A node that was offline for a month, or one of whose tables the cloud denies, warns and goes on: it takes all writes, deletes
// too, and keeps its locks. What waits for a stopped table does not even age.
func TestAgeOnlyWarns(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, n := opened(t, nil)
			n.net.RecordProbe("", n.clock.Now())
			n.put(t, "teams", attr.Item{"id": attr.S("x"), "text": attr.S("waits")})
			if stopped {
				n.paces.Halt("teams", intent.Denied.String(), "a test", n.clock.Now())
			}
			<-time.After(40 * 24 * time.Hour)
			if _, err := n.chores(t.Context(), n.serverNow()); err != nil {
				t.Fatal(err)
			}
			n.put(t, "teams", attr.Item{"id": attr.S("y"), "text": attr.S("new")})
			n.inTx(t, func(tx *store.Tx) error {
				_, err := tx.Delete(store.DeleteItem{Table: "teams", Key: attr.Item{"id": attr.S("x")}})
				return err
			})
			st, err := n.Status(t.Context())
			want := flow.LevelWarn
			if stopped {
				want = flow.LevelOK
			}
			if err != nil || st.Budget.Level != want || st.Budget.Refused != 0 || (st.Budget.Which == "age") == stopped {
				t.Errorf("stopped %v: %+v, %v, want %v", stopped, st.Budget, err, want)
			}
			if alarmed := strings.Contains(strings.Join(st.Alarms, " "), "waiting for the cloud for 960 hours"); alarmed == stopped {
				t.Errorf("stopped %v: %q", stopped, st.Alarms)
			}
			if refuses, err := n.Refusing(t.Context()); err != nil || refuses != "" {
				t.Errorf("stopped %v: refuses %q, %v", stopped, refuses, err)
			}
			if err := n.Usable(); err != nil {
				t.Errorf("stopped %v: %v", stopped, err)
			}
		})
	}
}
