package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// told is a replicator that records the writes passed to it, and does what the test wants.
type told struct {
	calls  [][]store.Write
	do     func(tx *store.Tx, writes []store.Write) error
	expire func(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error)
}

func (r *told) Compile(tx *store.Tx, writes []store.Write) error {
	kept := slices.Clone(writes)
	for i := range kept {
		kept[i].RawKey = slices.Clone(kept[i].RawKey)
		kept[i].Old, kept[i].New = slices.Clone(kept[i].Old), slices.Clone(kept[i].New)
	}
	r.calls = append(r.calls, kept)
	if r.do != nil {
		return r.do(tx, writes)
	}
	return nil
}

func (r *told) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	if r.expire == nil {
		return true, nil
	}
	return r.expire(tx, spec, key)
}

func ofPolicy(name string, p store.Policy) store.TableSpec {
	spec := storetest.Matches()
	spec.Name, spec.Policy = name, p
	return spec
}

// openTold opens a store with a table that sends, balls, and one of each kind that does not.
func openTold(t *testing.T) (*store.Store, *told) {
	t.Helper()
	internal := ofPolicy("internal", store.PolicyIntent)
	internal.Internal = true
	s := storetest.Open(t, storetest.Balls(), storetest.Matches(), internal,
		ofPolicy("newest", store.PolicyNewest), ofPolicy("state", store.PolicyState),
		ofPolicy("local", store.PolicyLocal), ofPolicy("lock", store.PolicyLock))
	r := &told{}
	s.Replicate(r)
	return s, r
}

func TestWhichTablesSend(t *testing.T) {
	s, r := openTold(t)
	for _, spec := range s.Tables() {
		r.calls = nil
		storetest.Put(t, s, spec.Name, storetest.Ball("final", 1))
		want := slices.Contains([]string{"balls", "newest", "state"}, spec.Name)
		if (len(r.calls) == 1) != want || spec.Sends() != want {
			t.Errorf("table %s: told of %d writes, it sends: %v", spec.Name, len(r.calls), spec.Sends())
		}
	}
}

// TestToldOfWrites: sequences and images equal those of the journal records written afterwards.
func TestToldOfWrites(t *testing.T) {
	s, r := openTold(t)
	storetest.Put(t, s, "balls", storetest.Ball("final", 9, "runs", 4), storetest.Ball("final", 8))
	r.calls = nil
	before := s.Seq()
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", "final")})
		_, err2 := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
		_, err3 := tx.Update(store.UpdateItem{
			Table: "balls", Key: storetest.Ball("final", 9), Update: "ADD runs :r", Condition: "runs = :was", Params: storetest.Values(":r", 2, ":was", 4),
		})
		_, err4 := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 77)})
		err5 := tx.BatchWrite(store.BatchWrite{
			"balls":   {{Put: storetest.Ball("final", 2)}, {Delete: storetest.Ball("final", 78)}, {Delete: storetest.Ball("final", 8)}},
			"matches": {{Put: storetest.Item("match", "semi")}},
		})
		err6 := tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
			{Check: &store.ConditionCheck{Table: "balls", Key: storetest.Ball("final", 9), Condition: "runs = :r", Params: storetest.Values(":r", 6)}},
			{Delete: &store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 79)}},
			{Put: &store.PutItem{Table: "matches", Item: storetest.Item("match", "third")}},
			{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 3)}},
			{Delete: &store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 1)}},
		}})
		return errors.Join(err, err2, err3, err4, err5, err6)
	})
	records := map[uint64]store.Record{}
	for _, rec := range storetest.Journal(t, s, before) {
		records[rec.Seq] = rec
	}
	var got []string
	seqs := map[uint64]bool{}
	for _, call := range r.calls {
		line := ""
		for _, w := range call {
			line += fmt.Sprintf("%d:%s %s %d sends=%v;", w.Op, w.Spec.Name, storetest.Show(w.Key), w.Seq-min(w.Seq, before), w.Sends)
			if w.Txn != before+1 || w.Atomic != (len(call) > 1) {
				t.Errorf("%+v: transaction %d, atomic %v", w.Key, w.Txn-before, w.Atomic)
			}
			if w.Seq == 0 {
				continue
			}
			rec := records[w.Seq]
			seqs[w.Seq] = true
			storetest.WantItem(t, "key", w.Key, rec.Key)
			storetest.WantItem(t, "old", decoded(t, w.Old), rec.Old)
			storetest.WantItem(t, "new", decoded(t, w.New), rec.New)
			if w.Op != rec.Op || w.Request.Update != rec.Request.Update || w.Request.Condition != rec.Request.Condition ||
				(w.Bound.Condition != nil) != (w.Request.Condition != "") || (w.Bound.Update != nil) != (w.Request.Update != "") {
				t.Errorf("told of %+v, the journal has %+v", w, rec)
			}
		}
		got = append(got, line)
	}
	want := []string{
		`1:balls {"ball":{"N":"1"},"match":{"S":"final"}} 2 sends=true;`,
		`2:balls {"ball":{"N":"9"},"match":{"S":"final"}} 3 sends=true;`,
		`1:balls {"ball":{"N":"2"},"match":{"S":"final"}} 4 sends=true;`,
		`3:balls {"ball":{"N":"8"},"match":{"S":"final"}} 5 sends=true;`,
		`0:balls {"ball":{"N":"9"},"match":{"S":"final"}} 0 sends=true;` +
			`3:balls {"ball":{"N":"79"},"match":{"S":"final"}} 0 sends=true;` +
			`1:matches {"match":{"S":"third"}} 7 sends=false;` +
			`1:balls {"ball":{"N":"3"},"match":{"S":"final"}} 8 sends=true;` +
			`3:balls {"ball":{"N":"1"},"match":{"S":"final"}} 9 sends=true;`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("told of\n%s\nwant\n%s", bytes.Join(lines(got), []byte("\n")), bytes.Join(lines(want), []byte("\n")))
	}
	if len(seqs) != 7 || len(records) != 9 {
		t.Errorf("%d sequences told, %d records", len(seqs), len(records))
	}
}

func lines(texts []string) (out [][]byte) {
	for _, s := range texts {
		out = append(out, []byte(s))
	}
	return out
}

func decoded(t *testing.T, e attr.Encoded) attr.Item {
	t.Helper()
	if e == nil {
		return nil
	}
	it, err := e.Decode()
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// TestNotTold: Compile is not called for writes that are not the application's, or are not done now.
func TestNotTold(t *testing.T) {
	s, r := openTold(t)
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	once := store.TransactWrite{Token: "once", Items: []store.WriteItem{{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 2)}}}}
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.TransactWrite(once) })
	for name, fn := range map[string]func(tx *store.Tx) error{
		"another origin": func(tx *store.Tx) error {
			tx.SetOrigin("feed")
			_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 5)})
			return err
		},
		"adopted": func(tx *store.Tx) error {
			_, err := tx.Adopt("balls", storetest.Ball("final", 6), storetest.Ball("final", 6))
			return err
		},
		"a delete of nothing": func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 7)})
			return err
		},
		"a condition that does not hold": func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1), Condition: "attribute_not_exists(ball)"})
			if err == nil {
				t.Error("put over an item")
			}
			return nil
		},
		"a batch that is refused": func(tx *store.Tx) error {
			if tx.BatchWrite(store.BatchWrite{"balls": {{Put: storetest.Ball("final", 8)}, {Put: storetest.Ball("final", 8)}}}) == nil {
				t.Error("one item twice in a batch")
			}
			return nil
		},
		"a transaction that was done before": func(tx *store.Tx) error { return tx.TransactWrite(once) },
		"a transaction of local tables": func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
				{Put: &store.PutItem{Table: "local", Item: storetest.Item("match", "a")}},
				{Put: &store.PutItem{Table: "local", Item: storetest.Item("match", "b")}},
			}})
		},
		"a canceled transaction": func(tx *store.Tx) error {
			err := tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
				{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 1), Condition: "attribute_not_exists(ball)"}},
				{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 9)}},
			}})
			if err == nil {
				t.Error("put over an item")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r.calls = nil
			storetest.Update(t, s, fn)
			if len(r.calls) > 0 {
				t.Errorf("told of %+v", r.calls)
			}
		})
	}
}

var errNotNow = errors.New("not now")

// TestCompileRefuses: an error of Compile refuses the writes it is about, and rolls back what it noted for them; what the transaction
// does before and after stays.
func TestCompileRefuses(t *testing.T) {
	s, r := openTold(t)
	noted := func(tx *store.Tx) (keys []string) {
		err := tx.Side("noted").Each(nil, nil, func(k, _ []byte) (bool, error) {
			keys = append(keys, string(k))
			return true, nil
		})
		if err != nil {
			t.Error(err)
		}
		return keys
	}
	r.do = func(tx *store.Tx, writes []store.Write) error {
		for _, w := range writes {
			n, _ := w.Key["ball"].Int()
			if err := tx.Side("noted").Set(fmt.Appendf(nil, "%d", n), []byte("x")); err != nil {
				return err
			}
			if n >= 100 {
				return errNotNow
			}
		}
		return nil
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		refused := func(err error) {
			t.Helper()
			if !errors.Is(err, errNotNow) {
				t.Errorf("got %v", err)
			}
		}
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 100)}) // the first: the space is created and removed again
		refused(err)
		_, err = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1)})
		if err != nil {
			return err
		}
		_, err = tx.Update(store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 101)})
		refused(err)
		refused(tx.BatchWrite(store.BatchWrite{"balls": {{Put: storetest.Ball("final", 2)}, {Put: storetest.Ball("final", 102)}}}))
		refused(tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
			{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 3)}}, {Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 103)}},
		}}))
		_, err = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 4)})
		return err
	})
	storetest.View(t, s, func(tx *store.Tx) error {
		page, err := tx.Scan(store.Scan{Table: "balls"})
		if len(page.Items) != 2 || !slices.Equal(noted(tx), []string{"1", "4"}) {
			t.Errorf("%d items, noted %q", len(page.Items), noted(tx))
		}
		return err
	})
	if n := len(storetest.Journal(t, s, 0)); n != 2 {
		t.Errorf("%d records", n)
	}
}

// TestCompileWritesNoItems: the sequences passed to it would be wrong.
func TestCompileWritesNoItems(t *testing.T) {
	s, r := openTold(t)
	storetest.Put(t, s, "local", storetest.Item("match", "seen"))
	for name, fn := range map[string]func(tx *store.Tx) error{
		"put": func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "local", Item: storetest.Item("match", "x")})
			return err
		},
		"delete": func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "local", Key: storetest.Item("match", "seen")})
			return err
		},
		"adopt": func(tx *store.Tx) error {
			_, err := tx.Adopt("local", storetest.Item("match", "x"), storetest.Item("match", "x"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var inside error
			r.do = func(tx *store.Tx, _ []store.Write) error {
				if it, err := tx.Get("local", storetest.Item("match", "seen")); err != nil || it == nil {
					t.Errorf("a read: %s, %v", storetest.Show(it), err)
				}
				inside = fn(tx)
				return nil
			}
			storetest.Put(t, s, "balls", storetest.Ball("final", 1))
			storetest.WantFault(t, inside, fault.Internal, "tx_compiling")
			r.do = nil
			storetest.Put(t, s, "local", storetest.Item("match", "y")) // Compile is over
		})
	}
}

func TestReadBefore(t *testing.T) {
	key := storetest.Ball("final", 1)
	for name, c := range map[string]struct {
		read func(tx *store.Tx) error
		want bool
	}{
		"nothing":        {func(*store.Tx) error { return nil }, false},
		"Get":            {func(tx *store.Tx) error { _, err := tx.Get("balls", key); return err }, true},
		"Get of another": {func(tx *store.Tx) error { _, err := tx.Get("balls", storetest.Ball("final", 2)); return err }, false},
		"Get elsewhere":  {func(tx *store.Tx) error { _, err := tx.Get("matches", storetest.Item("match", "final")); return err }, false},
		"GetItem": {func(tx *store.Tx) error {
			_, err := tx.GetItem(store.GetItem{Table: "balls", Key: key, Projection: "runs"})
			return err
		}, true},
		"TransactGet": {func(tx *store.Tx) error {
			_, err := tx.TransactGet([]store.GetItem{{Table: "balls", Key: key}})
			return err
		}, true},
		"BatchGet": {func(tx *store.Tx) error {
			_, err := tx.BatchGet(store.BatchGet{"balls": {Keys: []attr.Item{key}}})
			return err
		}, true},
		"Query":            {func(tx *store.Tx) error { _, err := tx.Query(queryBalls("final")); return err }, true},
		"Query of another": {func(tx *store.Tx) error { _, err := tx.Query(queryBalls("semi")); return err }, false},
		"Query of an index": {func(tx *store.Tx) error {
			_, err := tx.Query(store.Query{
				Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Params: storetest.Values(":b", "archer"),
			})
			return err
		}, true},
		"an index as it was": {func(tx *store.Tx) error {
			tx.IndexesAsOf(tx.Now())
			_, err := tx.Scan(store.Scan{Table: "balls", Index: "bowler-index"})
			return err
		}, true},
		"Scan": {func(tx *store.Tx) error { _, err := tx.Scan(store.Scan{Table: "balls"}); return err }, true},
		"its old image": {func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1, "bowler", "archer")})
			return err
		}, true},
		"a put that shows nothing": {func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1, "bowler", "archer"), NoOld: true})
			return err
		}, false},
		"images of an update": {func(tx *store.Tx) error { _, err := tx.Update(store.UpdateItem{Table: "balls", Key: key}); return err }, true},
		"a failed condition": {func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: key, Condition: "attribute_not_exists(ball)"})
			if err == nil {
				return errors.New("it held")
			}
			return nil
		}, true},
		"too many": {func(tx *store.Tx) error {
			for i := range 10_001 {
				if _, err := tx.Get("balls", storetest.Ball("semi", i)); err != nil {
					return err
				}
			}
			return nil
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := openTold(t)
			storetest.Put(t, s, "balls", storetest.Ball("final", 1, "bowler", "archer"), storetest.Ball("semi", 1))
			storetest.Update(t, s, func(tx *store.Tx) error {
				if err := c.read(tx); err != nil {
					return err
				}
				r.calls = nil
				_, err := tx.Update(store.UpdateItem{Table: "balls", Key: key, Update: "SET runs = :r", Params: storetest.Values(":r", 1)})
				return err
			})
			if len(r.calls) != 1 || r.calls[0][0].Read != c.want {
				t.Errorf("told of %+v", r.calls)
			}
		})
	}
}

func queryBalls(match string) store.Query {
	return store.Query{Table: "balls", KeyCondition: "#m = :m", Params: withName(storetest.Values(":m", match), "#m", "match")}
}

// TestReadInAnotherTransaction: a read in another transaction does not count for this one.
func TestReadInAnotherTransaction(t *testing.T) {
	s, r := openTold(t)
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	storetest.Get(t, s, "balls", storetest.Ball("final", 1))
	storetest.Together(t, s, func(tx *store.Tx) error {
		_, err := tx.Get("balls", storetest.Ball("final", 1))
		return err
	}, func(tx *store.Tx) error {
		r.calls = nil
		_, err := tx.Update(store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1)})
		return err
	})
	if len(r.calls) != 1 || r.calls[0][0].Read {
		t.Errorf("told of %+v", r.calls)
	}
}

// TestSweepAsks: an expired row that the replicator keeps stays, hidden, and every pass asks for it again.
func TestSweepAsks(t *testing.T) {
	newest := ofPolicy("newest", store.PolicyNewest)
	newest.TTL = "ttl"
	local := ofPolicy("local", store.PolicyLocal)
	local.TTL = "ttl"
	s := openSweeping(t, storetest.Balls(), newest, local)
	asked := map[string]int{}
	r := &told{}
	r.expire = func(_ *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
		asked[spec.Name+storetest.Show(key)]++
		n, _ := key["ball"].Int()
		return n == 2, nil
	}
	s.Replicate(r)
	storetest.Put(t, s.Store, "balls", storetest.Ball("final", 1, "ttl", s.until(time.Minute)), storetest.Ball("final", 2, "ttl", s.until(time.Minute)))
	storetest.Put(t, s.Store, "newest", storetest.Item("match", "final", "ttl", s.until(time.Minute)))
	storetest.Put(t, s.Store, "local", storetest.Item("match", "final", "ttl", s.until(time.Minute)))
	housekeep(t, s.Store)
	r.calls = nil
	for range 2 {
		s.wait(11 * time.Minute)
		housekeep(t, s.Store)
	}
	want := map[string]int{
		`balls{"ball":{"N":"1"},"match":{"S":"final"}}`: 2, `balls{"ball":{"N":"2"},"match":{"S":"final"}}`: 1, `newest{"match":{"S":"final"}}`: 2,
	}
	if fmt.Sprint(asked) != fmt.Sprint(want) || s.Stats().Swept != 2 || len(r.calls) > 0 {
		t.Errorf("asked about %v, swept %d, told of %v", asked, s.Stats().Swept, r.calls)
	}
	storetest.WantItem(t, "a ghost", storetest.Get(t, s.Store, "balls", storetest.Ball("final", 1)), nil)
	storetest.View(t, s.Store, func(tx *store.Tx) error {
		tx.ShowExpired()
		it, err := tx.Get("balls", storetest.Ball("final", 1))
		if it == nil {
			t.Error("the ghost is gone")
		}
		return err
	})
}
