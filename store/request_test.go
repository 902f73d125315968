package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// costs returns a true condition that searches the 380 kB of a large ball the given number of times: some 380,000 units of work each.
func costs(times int) string {
	return "NOT (" + strings.TrimSuffix(strings.Repeat("contains(a, :none) OR ", times), " OR ") + ")"
}

func large(n int, more ...any) attr.Item {
	return storetest.Ball("final", n, append([]any{"a", strings.Repeat("ab", 190_000)}, more...)...)
}

var none = attr.S("ba~")

// hold keeps the turn until the test releases it.
func hold(t *testing.T, s *store.Store) (release func()) {
	t.Helper()
	has, end := make(chan struct{}), make(chan struct{})
	var held sync.WaitGroup
	held.Go(func() {
		_ = s.Update(context.WithoutCancel(t.Context()), func(*store.Tx) error {
			close(has)
			<-end
			return nil
		})
	})
	<-has
	return func() {
		close(end)
		held.Wait()
	}
}

// The attack is a hundred conditions of 150 terms on large items. It is refused with a message, and never takes a turn: here another
// member has the turn all the time. The same holds for a transaction of few enough conditions, whether they hold or not.
func TestChecksHaveNoTurn(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", large(0), large(1), large(2), large(3))
	defer hold(t, s)()
	check := func(items []store.WriteItem, token string) error {
		transaction := store.TransactWrite{Items: items, Token: token}
		return s.UpdateRequest(t.Context(), transaction.ChecksOnly(), func(tx *store.Tx) error { return tx.TransactWrite(transaction) })
	}
	var attack []store.WriteItem
	for i := range 100 {
		attack = append(attack, checkBall(i, costs(149), ":none", none))
	}
	err := check(attack, "")
	storetest.WantFault(t, err, fault.Invalid, expr.CodeWork)
	if _, ok := errors.AsType[*store.TransactionCanceledError](err); ok {
		t.Error("the whole request is refused, not one action for a reason")
	}
	few := []store.WriteItem{checkBall(0, costs(10), ":none", none), checkBall(1, costs(10), ":none", none)}
	for _, token := range []string{"", "a-token", "a-token"} {
		if err := check(few, token); err != nil {
			t.Error(err)
		}
	}
	few[1].Check.Condition = "contains(a, :none)"
	wantReasons(t, "one does not hold", check(few, ""), store.ReasonNone, store.ReasonConditionFailed)
}

// A costly request is stopped early in its turn and judged on a snapshot; its next turn only checks the result.
func TestCostlyWriteIsJudgedBeside(t *testing.T) {
	for name, call := range map[string]func(tx *store.Tx) error{
		"update": func(tx *store.Tx) error {
			images, err := tx.Update(store.UpdateItem{
				Table: "balls", Key: storetest.Ball("final", 1), Update: "SET n = :n", Condition: costs(20), Params: storetest.Values(":none", none, ":n", 1),
			})
			if err == nil && (images.Old == nil || !storetest.SameItem(images.OnlyUpdated().New, storetest.Item("n", 1))) {
				t.Errorf("images %s", storetest.Show(images.OnlyUpdated().New))
			}
			return err
		},
		"put": func(tx *store.Tx) error {
			old, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1, "n", 1), Condition: costs(20), Params: storetest.Values(":none", none)})
			if err == nil && old == nil {
				t.Error("no old item")
			}
			return err
		},
		"delete": func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 1), Condition: costs(20), Params: storetest.Values(":none", none)})
			return err
		},
		"transaction": func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Token: "t", Items: []store.WriteItem{
				putBall(1, "n", 1), checkBall(2, costs(20), ":none", none),
			}})
		},
	} {
		s := storetest.Open(t, storetest.Balls())
		storetest.Put(t, s, "balls", large(1), large(2))
		var spent []int
		err := s.UpdateRequest(t.Context(), false, func(tx *store.Tx) error {
			err := call(tx)
			spent = append(spent, tx.Work().UnitsSpent())
			return err
		})
		if err != nil || len(spent) != 3 {
			t.Fatalf("%s: %v, ran %d times", name, err, len(spent))
		}
		if spent[0] > 2<<20 || spent[1] < 7<<20 || spent[2] != 0 {
			t.Errorf("%s: %d units in the turn, %d on the snapshot, %d in the next turn", name, spent[0], spent[1], spent[2])
		}
		if got := storetest.Get(t, s, "balls", storetest.Ball("final", 1)); len(got["a"].Str()) > 0 && got["n"].IsZero() {
			t.Errorf("%s: nothing was written", name)
		}
		if n := len(storetest.Journal(t, s, 0)); n != 3 {
			t.Errorf("%s: %d records", name, n)
		}
	}
}

// A request whose item has changed since it was judged is judged again, at last within its turn: nothing is lost.
func TestJudgedAgainWhenChanged(t *testing.T) {
	for changes := range 6 {
		s := storetest.Open(t, storetest.Balls())
		storetest.Put(t, s, "balls", large(1, "n", 0))
		add := store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1), Update: "ADD n :one", Params: storetest.Values(":one", 1)}
		left, onSnapshot := changes, 0
		err := s.UpdateRequest(t.Context(), true, func(tx *store.Tx) error {
			costly := add
			costly.Condition, costly.Params = costs(10), storetest.Values(":one", 1, ":none", none)
			_, err := tx.Update(costly)
			if tx.Seq() == s.Seq() && left > 0 && err == nil { // on the snapshot: a transaction that has written is ahead
				left--
				onSnapshot++
				storetest.Update(t, s, func(tx *store.Tx) error {
					_, err := tx.Update(add)
					return err
				})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		storetest.WantItem(t, "with every addition", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), large(1, "n", onSnapshot+1))
		if onSnapshot != min(changes, 4) {
			t.Errorf("judged %d times", onSnapshot)
		}
	}
}

// Others write while refused and costly requests arrive: each of their writes is done, and the attackers' turns are as short as
// anybody's. The test counts work, because times mean nothing on a busy machine.
func TestOthersWriteBesideAnAttack(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", large(1), large(2))
	ctx, stop := context.WithCancel(t.Context())
	var attackers sync.WaitGroup
	for range 4 {
		attackers.Go(func() {
			for ctx.Err() == nil {
				_ = s.UpdateRequest(ctx, false, func(tx *store.Tx) error {
					_, err := tx.Update(store.UpdateItem{
						Table: "balls", Key: storetest.Ball("final", 1), Update: "SET n = :n", Condition: costs(149), Params: storetest.Values(":none", none, ":n", 1),
					})
					return err
				})
			}
		})
	}
	const writes = 200
	for i := range writes {
		storetest.Put(t, s, "balls", storetest.Ball("other", i))
	}
	stop()
	attackers.Wait()
	storetest.WantFault(t, s.UpdateRequest(t.Context(), false, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1), Condition: costs(148) + " AND " + costs(1), Params: storetest.Values(":none", none)})
		if err == nil {
			_, err = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 2), Condition: costs(149), Params: storetest.Values(":none", none)})
		}
		return err
	}), fault.Invalid, expr.CodeWork)
}

// A page ends when it has cost enough, and the next one continues: nobody is refused for the size of a table.
func TestCostlyPagesEndEarly(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", large(0), large(1), storetest.Ball("final", 2))
	for _, filter := range []string{"", costs(100)} {
		q := store.Query{Table: "balls", KeyCondition: "#m = :m", Filter: filter, Params: storetest.Values(":m", "final", ":none", none)}
		if filter == "" {
			q.Params = storetest.Values(":m", "final")
		}
		q.Params.Names = map[string]string{"#m": "match"}
		pages, items := 0, 0
		for q.StartKey = nil; pages == 0 || q.StartKey != nil; pages++ {
			err := s.ViewRequest(t.Context(), func(tx *store.Tx) error {
				page, err := tx.Query(q)
				items += page.Count
				q.StartKey = page.LastKey
				return err
			})
			if err != nil || pages > 4 {
				t.Fatal(pages, err)
			}
		}
		if items != 3 || filter == "" && pages != 1 || filter != "" && pages < 2 {
			t.Errorf("%d items on %d pages", items, pages)
		}
	}
}

// A read for a client that has gone is ended, in the middle of a page and of a filter.
func TestReaderHasGone(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	for i := range 40 {
		storetest.Put(t, s, "balls", storetest.Ball("final", i))
	}
	storetest.Put(t, s, "balls", large(40))
	ctx, leave := context.WithCancel(t.Context())
	read := 0
	err := s.ViewRequest(ctx, func(tx *store.Tx) error {
		_, err := tx.ScanEncoded(store.Scan{Table: "balls"}, func(attr.Encoded) error {
			if read++; read == 10 {
				leave()
			}
			return nil
		})
		return err
	})
	if !errors.Is(err, context.Canceled) || read >= 40 {
		t.Errorf("%v, %d items were read", err, read)
	}
	ctx, leave = context.WithCancel(t.Context())
	spent := 0
	err = s.ViewRequest(ctx, func(tx *store.Tx) error {
		_, err := tx.ScanEncoded(store.Scan{Table: "balls", Filter: "attribute_not_exists(a) OR " + costs(100), Params: storetest.Values(":none", none)},
			func(attr.Encoded) error {
				leave()
				return nil
			})
		spent = tx.Work().UnitsSpent()
		return err
	})
	if !errors.Is(err, context.Canceled) || spent > 4<<20 {
		t.Errorf("%v after %d units", err, spent)
	}
}

// Expensive reads of applications run a few at a time. Others wait, few of one client, and are refused when they have waited too long.
// Cheap reads are never behind them, and neither are pages that all readers share.
func TestExpensiveReadsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Open(t, storetest.Balls())
		storetest.Put(t, s, "balls", large(0), storetest.Ball("final", 1))
		places := max(1, runtime.GOMAXPROCS(0)/2)
		inside, end, ended := 0, make(chan struct{}), make(chan error, 100)
		read := func(ctx context.Context, n int, then func()) error {
			return s.ViewShared(ctx, func(tx *store.Tx) error {
				_, err := tx.Get("balls", storetest.Ball("final", n))
				if err == nil {
					then()
				}
				return err
			})
		}
		begin := func(ctx context.Context) {
			go func() { ended <- read(ctx, 0, func() { inside++; <-end }) }()
			synctest.Wait()
		}
		as := func(client int) context.Context { return store.AsClient(t.Context(), fmt.Sprint("client ", client)) }
		for i := range 4 { // the most of one client
			begin(as(0))
			if want := min(i+1, places); inside != want {
				t.Fatalf("%d of %d expensive reads run, want %d", inside, i+1, want)
			}
		}
		nothing := func() {}
		storetest.WantFault(t, read(as(0), 0, nothing), fault.Unavailable, "store_busy")
		if err := read(as(0), 1, nothing); err != nil {
			t.Errorf("a cheap read: %v", err)
		}
		if err := read(t.Context(), 0, nothing); err != nil {
			t.Errorf("a page of all readers: %v", err)
		}
		for i := range 28 { // the most in total
			begin(as(1 + i/4))
		}
		storetest.WantFault(t, read(as(100), 0, nothing), fault.Unavailable, "store_busy")
		gone, leave := context.WithCancel(as(0))
		leave()
		if err := read(gone, 0, nothing); err == nil {
			t.Error("a client that has gone was read for")
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		for range 32 - places {
			storetest.WantFault(t, <-ended, fault.Unavailable, "store_busy")
		}
		close(end)
		for range places {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if err := read(as(0), 0, nothing); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
