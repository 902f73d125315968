package txn_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

type nameKey struct{}

// A member that keeps others waiting is reported by its context, once while it does and once afterwards; those that wait are not.
func TestLongTurnIsNamed(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, WriteStall: 100 * time.Millisecond}, storetest.Balls())
	told := make(chan store.LongTurn, 10)
	s.OnLongTurn(func(l store.LongTurn) { told <- l })
	if held := s.Stats().Held; held != 0 {
		t.Errorf("nobody has the turn for %v", held)
	}
	culprit := context.WithValue(t.Context(), nameKey{}, "culprit")
	has, end := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.Update(culprit, func(*store.Tx) error {
			close(has)
			<-end
			return nil
		})
	}()
	<-has
	waiter := context.WithValue(t.Context(), nameKey{}, "waiter")
	if err := s.Update(waiter, func(*store.Tx) error { return nil }); err == nil {
		t.Error("a waiter was not refused")
	}
	if held := s.Stats().Held; held < 100*time.Millisecond {
		t.Errorf("held for %v", held)
	}
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(told)
	overs := 0
	for l := range told {
		if l.Context.Value(nameKey{}) != "culprit" || l.Held < 100*time.Millisecond {
			t.Errorf("%v was named, after %v", l.Context.Value(nameKey{}), l.Held)
		}
		if l.Over {
			overs++
		}
	}
	st := s.Stats()
	if overs != 1 || st.LongTurns != 1 || st.Held != 0 {
		t.Errorf("named %d times, counted %d, held %v", overs, st.LongTurns, st.Held)
	}
}

// The cost of a page of names depends on the page, not on the number of tables.
func TestTableNames(t *testing.T) {
	cost := map[int]float64{}
	for _, n := range []int{50, 500} {
		s := storetest.Open(t)
		var specs []store.TableSpec
		for i := range n {
			spec := storetest.Balls()
			spec.Name = fmt.Sprintf("table-%04d", i)
			specs = append(specs, spec)
		}
		slices.Reverse(specs)
		hidden := storetest.Balls()
		hidden.Name, hidden.Internal, hidden.Policy = "touchline-hidden", true, store.PolicyLocal
		if err := s.Define(t.Context(), append(specs, hidden)...); err != nil {
			t.Fatal(err)
		}
		if err := s.DropTable(t.Context(), "table-0003"); err != nil {
			t.Fatal(err)
		}
		names, more := s.TableNames("table-0001", 3)
		if want := []string{"table-0002", "table-0004", "table-0005"}; !slices.Equal(names, want) || !more {
			t.Errorf("%v, %v; want %v and more", names, more, want)
		}
		if all, more := s.TableNames("", n); len(all) != n-1 || more || !slices.IsSorted(all) {
			t.Errorf("%d of %d names, more: %v", len(all), n-1, more)
		}
		if all, _ := s.TableNames("zzz", n); len(all) != 0 {
			t.Errorf("behind the last: %v", all)
		}
		cost[n] = testing.AllocsPerRun(5, func() { s.TableNames("table-0010", 10) })
	}
	if cost[500] > cost[50] {
		t.Errorf("a page of 10 takes %v allocations of 500 tables, %v of 50", cost[500], cost[50])
	}
}
