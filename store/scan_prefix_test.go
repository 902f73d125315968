package store_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// A scan with a prefix returns the same as a scan with a filter, page by page, and reads nothing else.
func TestScanOfAPrefix(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	matches := []string{"a", "ab", "ab\x00", "ab\xff", "abc", "abd", "ac", "b", "ä", "äb"}
	for _, m := range matches {
		storetest.Put(t, s, "balls", storetest.Ball(m, 1))
		storetest.Put(t, s, "balls", storetest.Ball(m, 2))
	}
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"a", "ab", "abc", "ä", "b", "x", "\xc3"}).Draw(t, "prefix")
		scan := store.Scan{Table: "balls", Prefix: prefix, Limit: rapid.IntRange(1, 7).Draw(t, "limit")}
		var found, scanned, want int
		for _, m := range matches {
			if strings.HasPrefix(m, prefix) {
				want += 2
			}
		}
		for {
			var page store.Page
			if err := s.View(t.Context(), func(tx *store.Tx) (err error) {
				page, err = tx.Scan(scan)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			found, scanned = found+len(page.Items), scanned+page.Scanned
			if scan.StartKey = page.LastKey; scan.StartKey == nil {
				break
			}
		}
		if found != want || scanned != want {
			t.Fatalf("%q: %d items and %d read, want %d", prefix, found, scanned, want)
		}
	})
}

// A start key must have the prefix, and only a string key can have one.
func TestScanOfAPrefixRefuses(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), store.TableSpec{Name: "numbers", Key: store.KeySpec{Partition: store.KeyAttr{Name: "n", Type: store.KeyNumber}}})
	storetest.Put(t, s, "balls", storetest.Ball("b", 1))
	key := attr.Item{"match": attr.S("b"), "ball": attr.Int(1)}
	for _, scan := range []store.Scan{
		{Table: "balls", Prefix: "a", StartKey: key}, {Table: "balls", Prefix: "c", StartKey: key}, {Table: "numbers", Prefix: "1"},
	} {
		err := s.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Scan(scan)
			return err
		})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", scan, err)
		}
	}
}
