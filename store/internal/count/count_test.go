package count_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// fill writes n balls; two in three have a bowler.
func fill(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for from := 0; from < n; from += 500 {
		storetest.Update(t, s, func(tx *store.Tx) error {
			for i := from; i < from+500; i++ {
				it := storetest.Ball("final", i, "runs", i%7)
				if i%3 != 0 {
					it["bowler"] = attr.S(fmt.Sprintf("b%d", i%5))
				}
				if _, err := tx.Put(store.PutItem{Table: "balls", Item: it, NoOld: true}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Count returns what scans of the table and its indexes read.
func TestCount(t *testing.T) {
	spec := storetest.Balls()
	spec.Indexes = append(spec.Indexes, store.IndexSpec{
		Name: "text-index", Key: store.KeySpec{Partition: storetest.Str("bowler")}, Projection: store.ProjectInclude, Include: []string{"runs", "none"},
	})
	s := storetest.Open(t, spec, storetest.Matches())
	fill(t, s, 25_000) // more than two slices
	storetest.Put(t, s, "balls", storetest.Ball("final", 3, "wicket", "lbw", "runs", 6, "bowler", "anna", "text", "long"))
	storetest.Put(t, s, "balls", storetest.Ball("final", 4, "wicket", "run out", "ttl", 1)) // has no runs, and is expired
	got, err := s.Count(t.Context(), "balls")
	if err != nil {
		t.Fatal(err)
	}
	want := store.Counts{Indexes: []store.IndexCounts{{Name: "bowler-index"}, {Name: "wicket-index"}, {Name: "text-index"}}}
	scanned := func(index string) (items, bytes int64) {
		storetest.View(t, s, func(tx *store.Tx) error {
			tx.ShowExpired()
			for q := (store.Scan{Table: "balls", Index: index}); ; {
				page, err := tx.Scan(q)
				if err != nil {
					return err
				}
				items, bytes = items+int64(page.Scanned), bytes+int64(page.Bytes)
				if q.StartKey = page.LastKey; q.StartKey == nil {
					return nil
				}
			}
		})
		return items, bytes
	}
	want.Items, want.Bytes = scanned("")
	for i := range want.Indexes {
		want.Indexes[i].Items, want.Indexes[i].Bytes = scanned(want.Indexes[i].Name)
	}
	if want.Items != 25_000 || want.Indexes[1].Items != 1 {
		t.Errorf("not the items that this test is about: %+v", want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	empty, err := s.Count(t.Context(), "matches")
	if err != nil || empty.Items != 0 || empty.Bytes != 0 {
		t.Errorf("an empty table: %+v, %v", empty, err)
	}
	_, err = s.Count(t.Context(), "none")
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
}

func BenchmarkCount(b *testing.B) {
	s := storetest.Open(b, storetest.Balls())
	fill(b, s, 1000)
	size := attr.Size(storetest.Ball("final", 1, "runs", 1))
	for b.Loop() {
		if c, err := s.Count(b.Context(), "balls"); err != nil || c.Bytes < int64(1000*size/2) {
			b.Fatal(c, err)
		}
	}
}
