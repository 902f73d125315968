package dynamoapi

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// TestLargeTableIsNotCountedEachTime: a clock that goes on by a second whenever it is looked at makes every count slow.
func TestLargeTableIsNotCountedEachTime(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: store.KeyString}}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true},
		store.TableSpec{Name: "tab", Key: key, Policy: store.PolicyLocal, Why: "a test's"})
	a := New(Config{Store: s, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	c := &call{Context: t.Context(), api: a}
	items := func() int64 {
		d, err := s.Describe("tab")
		if err != nil {
			t.Fatal(err)
		}
		counts, err := c.size(d)
		if err != nil {
			t.Fatal(err)
		}
		return counts.Items
	}
	put := func(n int) {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "tab", Item: attr.Item{"a": attr.S(fmt.Sprint(n))}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	if n := items(); n != 1 {
		t.Errorf("%d items", n)
	}
	put(2)
	if n := items(); n != 1 {
		t.Errorf("%d items: counted again at once", n)
	}
	now = now.Add(100 * time.Second)
	if n := items(); n != 2 {
		t.Errorf("%d items after its time", n)
	}
}
