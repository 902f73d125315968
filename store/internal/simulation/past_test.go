package simulation_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// Whatever is written, an index read as of an instant shows what it showed then, in both directions, page by page and in a scan; the
// table shows the present.
func TestIndexesAsOf(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	o := store.Options{NoSync: true, Now: func() time.Time { return now }}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls(), storetest.Matches())
	rapid.Check(t, func(rt *rapid.T) {
		storetest.Update(t, s, deleteBalls)
		type instant struct {
			at    time.Time
			shown [][]attr.Item
		}
		var past []instant
		for range rapid.IntRange(1, 12).Draw(rt, "transactions") {
			storetest.Update(t, s, func(tx *store.Tx) error { return bowlSome(rt, tx) })
			if rapid.Bool().Draw(rt, "later") {
				past = append(past, instant{now, showIndexes(t, s, time.Time{}, 0)})
				now = now.Add(time.Second)
			}
		}
		for _, then := range past {
			for _, limit := range []int{0, 1, 3} {
				if got := showIndexes(t, s, then.at, limit); !reflect.DeepEqual(got, then.shown) {
					rt.Fatalf("as of %v, %d a page:\n got %v\nwant %v", then.at, limit, got, then.shown)
				}
			}
		}
		if len(past) > 0 {
			storetest.View(t, s, func(tx *store.Tx) error {
				plain, err := tx.Scan(store.Scan{Table: "balls"})
				if err != nil {
					return err
				}
				tx.IndexesAsOf(past[0].at)
				table, err := tx.Scan(store.Scan{Table: "balls"})
				if !reflect.DeepEqual(plain, table) {
					rt.Fatal("the table is seen as it was")
				}
				return err
			})
		}
	})
}

func deleteBalls(tx *store.Tx) error {
	all, err := tx.Scan(store.Scan{Table: "balls"})
	for _, it := range all.Items {
		if err == nil {
			_, err = tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Item("match", it["match"], "ball", it["ball"])})
		}
	}
	return err
}

// bowlSome puts or deletes some of a few items, some of which are in the indexes.
func bowlSome(rt *rapid.T, tx *store.Tx) error {
	for range rapid.IntRange(1, 4).Draw(rt, "writes") {
		match, n := rapid.SampledFrom([]string{"m1", "m2"}).Draw(rt, "match"), rapid.IntRange(1, 4).Draw(rt, "ball")
		it := storetest.Ball(match, n, "runs", rapid.IntRange(0, 3).Draw(rt, "runs"))
		if bowler := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "bowler"); bowler != "" {
			it["bowler"] = attr.S(bowler)
		}
		if rapid.Bool().Draw(rt, "wicket") {
			it["wicket"] = attr.S("bowled")
		}
		var err error
		if rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
			_, err = tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball(match, n)})
		} else {
			_, err = tx.Put(store.PutItem{Table: "balls", Item: it})
		}
		if err != nil {
			return err
		}
		if _, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", match)}); err != nil {
			return err
		}
	}
	return nil
}

// showIndexes reads the indexes in several ways, as of an instant unless it is zero.
func showIndexes(t *testing.T, s *store.Store, at time.Time, limit int) (out [][]attr.Item) {
	t.Helper()
	read := func(page func(tx *store.Tx, start attr.Item) (store.Page, error)) {
		var all []attr.Item
		for start := attr.Item(nil); ; {
			var p store.Page
			storetest.View(t, s, func(tx *store.Tx) (err error) {
				if !at.IsZero() {
					tx.IndexesAsOf(at)
				}
				p, err = page(tx, start)
				return err
			})
			all = append(all, p.Items...)
			if start = p.LastKey; start == nil {
				break
			}
		}
		out = append(out, all)
	}
	for _, descending := range []bool{false, true} {
		for _, q := range []store.Query{
			{Index: "bowler-index", KeyCondition: "bowler = :v", Params: storetest.Values(":v", "a")},
			{Index: "wicket-index", KeyCondition: "wicket = :v", Params: storetest.Values(":v", "bowled")},
			{Index: "wicket-index", KeyCondition: "wicket = :v AND runs BETWEEN :l AND :h", Params: storetest.Values(":v", "bowled", ":l", 1, ":h", 2)},
		} {
			q.Table, q.Descending, q.Limit = "balls", descending, limit
			read(func(tx *store.Tx, start attr.Item) (store.Page, error) { q.StartKey = start; return tx.Query(q) })
		}
	}
	for _, index := range []string{"bowler-index", "wicket-index"} {
		read(func(tx *store.Tx, start attr.Item) (store.Page, error) {
			return tx.Scan(store.Scan{Table: "balls", Index: index, Limit: limit, StartKey: start})
		})
	}
	return out
}
