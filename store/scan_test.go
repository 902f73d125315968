package store_test

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
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

// A scan of a segment continues after the keys that its pages returned, even if they are among many of other segments, and refuses keys
// of other segments.
func TestSegmentsGoOnAfterKeysOfTheirOwn(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	for i := range 60 {
		storetest.Put(t, s, "balls", storetest.Ball("match "+strconv.Itoa(i), 1))
	}
	const segments = 7
	found, refused := 0, 0
	for segment := range segments {
		var start attr.Item
		for {
			var page store.Page
			scan := store.Scan{Table: "balls", Limit: 1, Segment: segment, TotalSegments: segments, StartKey: start}
			storetest.View(t, s, func(tx *store.Tx) (err error) {
				page, err = tx.Scan(scan)
				return err
			})
			found += len(page.Items)
			if start = page.LastKey; start == nil {
				break
			}
			scan.StartKey, scan.Segment = start, (segment+1)%segments
			err := s.View(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Scan(scan)
				return err
			})
			if storetest.WantFault(t, err, fault.Invalid, "validation"); err != nil && strings.Contains(err.Error(), "correct Segment. TotalSegments: 7") {
				refused++
			}
		}
	}
	if found != 60 || refused != 60 {
		t.Errorf("%d items of 60, and %d keys refused by another segment", found, refused)
	}
}

// Items of other segments that a scan steps over count towards the budget of its request, and towards its page.
func TestSegmentSpendsOnItemsOfOthers(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	const items = 200
	for i := range items {
		storetest.Put(t, s, "balls", storetest.Ball("match "+strconv.Itoa(i), 1))
	}
	scan := store.Scan{Table: "balls", Segment: 12345, TotalSegments: 1_000_000}
	err := s.ViewWithin(t.Context(), items*64-1, func(tx *store.Tx) error {
		page, err := tx.Scan(scan)
		if err == nil {
			t.Errorf("%d items of the segment, %d units", page.Count, tx.Work().UnitsSpent())
		}
		return err
	})
	storetest.WantFault(t, err, fault.Invalid, expr.CodeWork)

	// The rest of a page's budget after its first item is enough for 15 items of other segments, and then the page ends.
	const pageWork = 64 << 20
	scan = store.Scan{Table: "balls", TotalSegments: 20}
	for found, early := 0, 0; ; {
		err := s.ViewRequest(t.Context(), func(tx *store.Tx) error {
			page, err := tx.ScanEncoded(scan, func(attr.Encoded) error { return tx.Work().Spend(pageWork - 1000) })
			found += page.Count
			scan.StartKey = page.LastKey
			if page.Count == 1 && page.LastKey != nil {
				early++
			}
			return err
		})
		if err != nil || found > items {
			t.Fatal(found, err)
		}
		if scan.StartKey == nil {
			scan.Segment++
		}
		if scan.Segment == scan.TotalSegments {
			if found != items || early < items/5 {
				t.Errorf("%d items of %d, %d pages that ended early", found, items, early)
			}
			return
		}
	}
}
