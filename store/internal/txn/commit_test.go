package txn_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

var errMember = errors.New("this member fails")

func TestFailingMemberIsUndoneAlone(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "bowler", "archer"), storetest.Ball("final", 2, "bowler", "wood"))
	before, commits := s.Seq(), s.Stats().Commits
	put := func(tx *store.Tx, n int, bowler string) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", n, "bowler", bowler)})
		return err
	}
	var seen string
	errs := storetest.Together(t, s,
		func(tx *store.Tx) error { return put(tx, 1, "stokes") },
		func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 2)})
			err = errors.Join(err, put(tx, 1, "rashid"), put(tx, 2, "rashid"), put(tx, 3, "rashid"))
			err = errors.Join(err, tx.SetCursor("pusher", tx.Seq()))
			if err != nil {
				return fmt.Errorf("before the failure: %w", err)
			}
			return errMember
		},
		func(tx *store.Tx) error {
			it, err := tx.Get("balls", storetest.Ball("final", 1))
			seen = it["bowler"].Str()
			return err
		},
		func(tx *store.Tx) error { return put(tx, 4, "plunkett") },
		func(tx *store.Tx) error { return errors.Join(put(tx, 5, "malan"), errMember) }, // nobody overwrites what it left
	)
	if errs[0] != nil || !errors.Is(errs[1], errMember) || errs[2] != nil || errs[3] != nil || !errors.Is(errs[4], errMember) {
		t.Fatalf("got errors %v", errs)
	}
	if seen != "stokes" {
		t.Errorf("the member behind the failed one saw %q", seen)
	}
	if got := s.Stats().Commits - commits; got != 1 {
		t.Errorf("%d commits, want 1", got)
	}
	for n, bowler := range map[int]string{1: "stokes", 2: "wood", 3: "", 4: "plunkett", 5: ""} {
		if got := storetest.Get(t, s, "balls", storetest.Ball("final", n))["bowler"].Str(); got != bowler {
			t.Errorf("ball %d: got %q, want %q", n, got, bowler)
		}
	}
	if s.Seq() != before+2 {
		t.Errorf("journal moved by %d, want 2", s.Seq()-before)
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		if _, ok, _ := tx.Cursor("pusher"); ok {
			t.Error("the cursor of the failed member is there")
		}
		return nil
	})
}

func TestFailedDefineLeavesNothing(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "bowler", "archer"))
	changed := storetest.Balls()
	changed.Indexes = append(changed.Indexes[1:], store.IndexSpec{Name: "new", Key: store.KeySpec{Partition: storetest.Num("ball")}})
	bad := storetest.Matches()
	bad.Key.Partition.Type = 'X'
	storetest.WantFault(t, s.Define(t.Context(), changed, storetest.Matches(), bad), fault.Invalid, "validation")
	if n := len(s.Tables()); n != 1 {
		t.Errorf("%d tables, want 1", n)
	}
	if err := s.Define(t.Context(), changed, storetest.Matches()); err != nil {
		t.Fatal(err)
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		p, err := tx.Query(store.Query{
			Table: "balls", Index: "new", KeyCondition: "ball = :n", Params: storetest.Values(":n", 1),
		})
		if len(p.Items) != 1 {
			t.Errorf("the new index was not filled: %v", p.Items)
		}
		_, gone := tx.Query(store.Query{
			Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :n", Params: storetest.Values(":n", "archer"),
		})
		storetest.WantFault(t, gone, fault.Invalid, "validation")
		return err
	})
}

func TestPanicIsTheCallers(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	value := func() (v any) {
		defer func() { v = recover() }()
		_ = s.Update(t.Context(), func(tx *store.Tx) error {
			_, _ = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
			panic("bad light")
		})
		return nil
	}()
	if value != "bad light" {
		t.Errorf("recovered %v", value)
	}
	if storetest.Get(t, s, "balls", storetest.Ball("final", 1)) != nil {
		t.Error("the put of a panicking transaction is there")
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 2))
}

func TestGoexitIsTheCallers(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.Update(context.Background(), func(tx *store.Tx) error {
			_, _ = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
			runtime.Goexit()
			return nil
		})
		t.Error("Update returned")
	})
	wg.Wait()
	if storetest.Get(t, s, "balls", storetest.Ball("final", 1)) != nil {
		t.Error("the put of an ended goroutine is there")
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 2))
}

// TestALeaderThatEscapesLeavesTheOthersAlone: the first member leads the commit; it panics or ends its goroutine while others wait for
// it.
func TestALeaderThatEscapesLeavesTheOthersAlone(t *testing.T) {
	for name, escape := range map[string]func(){"panic": func() { panic("bad light") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Open(t, storetest.Balls())
			running, release := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { _ = recover() }()
				_ = s.Update(context.Background(), func(tx *store.Tx) error {
					_, _ = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 0)})
					close(running)
					<-release
					escape()
					return nil
				})
			})
			<-running
			for n := 1; n <= 3; n++ {
				wg.Go(func() { storetest.Put(t, s, "balls", storetest.Ball("final", n)) })
			}
			wait.Until(t, "three writers wait", func() bool { return s.Stats().Waiting == 3 })
			close(release)
			wg.Wait()
			if storetest.Get(t, s, "balls", storetest.Ball("final", 0)) != nil {
				t.Error("the put of the leader is there")
			}
			for n := 1; n <= 3; n++ {
				if storetest.Get(t, s, "balls", storetest.Ball("final", n)) == nil {
					t.Errorf("put %d is not there", n)
				}
			}
		})
	}
}

func TestCancelledMemberIsSkipped(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	ctx, cancel := context.WithCancel(t.Context())
	running, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.Update(t.Context(), func(*store.Tx) error {
			close(running)
			<-release
			return nil
		})
	})
	<-running
	ran := false
	wg.Go(func() {
		err := s.Update(ctx, func(*store.Tx) error {
			ran = true
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(release) // the cancelled one did not wait for the running one
	})
	wait.Until(t, "the second writer waits", func() bool { return s.Stats().Waiting > 0 })
	cancel()
	wg.Wait()
	if ran {
		t.Error("it ran")
	}
	if err := s.Update(ctx, func(*store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: got %v", err)
	}
}

func TestNestedUpdateIsRefused(t *testing.T) {
	o := store.Options{NoSync: true, WriteStall: 50 * time.Millisecond}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls())
	storetest.Update(t, s, func(*store.Tx) error {
		storetest.WantFault(t, s.Update(t.Context(), func(*store.Tx) error { return nil }), fault.Unavailable, "store_stalled")
		return nil
	})
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
}

func TestTxIsOverBehindItsFunction(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	var kept *store.Tx
	storetest.Update(t, s, func(tx *store.Tx) error { kept = tx; return nil })
	_, err := kept.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
	storetest.WantFault(t, err, fault.Internal, "tx_over")
	storetest.View(t, s, func(tx *store.Tx) error { kept = tx; return nil })
	_, err = kept.Get("balls", storetest.Ball("final", 1))
	storetest.WantFault(t, err, fault.Internal, "tx_over")
	storetest.View(t, s, func(tx *store.Tx) error {
		_, err = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
		return nil
	})
	storetest.WantFault(t, err, fault.Internal, "tx_read_only")
}

func TestWatchIsSetBeforeUpdateReturns(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	sig := clock.NewSignal()
	isSet := func() bool {
		select {
		case <-sig.C():
			sig.Clear()
			return true
		default:
			return false
		}
	}
	stop := s.Watch(sig)
	for range 100 {
		storetest.Put(t, s, "balls", storetest.Ball("final", 1))
		if !isSet() {
			t.Fatal("not set")
		}
	}
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("c", 1) })
	if isSet() {
		t.Error("set by a commit without a record")
	}
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		_, _ = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
		return errMember
	}); !errors.Is(err, errMember) || isSet() {
		t.Errorf("set by a failed transaction: %v", err)
	}
	stop()
	stop()
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	if isSet() {
		t.Error("set after stop")
	}
}

func TestManyWritersShareCommits(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{}, storetest.Balls())
	const writers, rounds = 32, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				err := s.Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Update(store.UpdateItem{
						Table: "balls", Key: storetest.Ball("final", w), Update: "ADD runs :one", Params: storetest.Values(":one", 1),
					})
					if r%7 == 3 {
						return errors.Join(err, errMember)
					}
					return err
				})
				if (err != nil) != (r%7 == 3) {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		if got, _ := storetest.Get(t, s, "balls", storetest.Ball("final", w))["runs"].Int(); got != rounds-3 {
			t.Errorf("writer %d: %d runs, want %d", w, got, rounds-3)
		}
	}
	st := s.Stats()
	t.Logf("%d transactions in %d commits, %v each", st.Members, st.Commits, st.MeanCommit)
	if st.Commits*4 > writers*rounds {
		t.Errorf("%d commits for %d transactions of %d writers", st.Commits, writers*rounds, writers)
	}
}

func TestClosedStore(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	fn := func(*store.Tx) error { return nil }
	storetest.WantFault(t, s.Update(t.Context(), fn), fault.Unavailable, "store_closed")
	storetest.WantFault(t, s.View(t.Context(), fn), fault.Unavailable, "store_closed")
	_ = s.Stats()
}
