package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func journalOf(t testing.TB, s *store.Store, q store.JournalQuery) store.JournalPage {
	t.Helper()
	page, err := s.JournalOf(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// All pages of a table together, whatever limits them, are its records in the journal.
func TestJournalOfATable(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	for i := range 40 {
		storetest.Put(t, s, "balls", storetest.Ball("a", i%7, "text", strings.Repeat("x", i)))
		if i%10 == 0 {
			storetest.Put(t, s, "matches", storetest.Item("match", fmt.Sprint(i%4), "text", fmt.Sprint(i)))
		}
	}
	id := describe(t, s, "matches").ID
	drop(t, s, "matches")
	if err := s.Define(t.Context(), storetest.Matches()); err != nil { // another table with the same name
		t.Fatal(err)
	}
	storetest.Put(t, s, "matches", storetest.Item("match", "another"))
	var want []store.Record
	for _, r := range storetest.Journal(t, s, 0) {
		if r.Table == "matches" && !storetest.SameItem(r.New, storetest.Item("match", "another")) {
			want = append(want, r)
		}
	}
	if len(want) != 4 || want[2].Old == nil {
		t.Fatalf("not the records that this test is about: %+v", want)
	}
	for _, q := range []store.JournalQuery{{}, {Look: 3}, {Limit: 1}, {Bytes: 1}, {Limit: 2, Look: 7}} {
		var got []store.Record
		q.TableID = id
		for calls := 0; ; calls++ {
			page := journalOf(t, s, q)
			got = append(got, page.Records...)
			if q.Limit != 0 && len(page.Records) > q.Limit || q.Bytes == 1 && len(page.Records) > 1 {
				t.Errorf("%+v: a page of %d", q, len(page.Records))
			}
			if q.Look != 0 && page.Came > max(q.After, page.First-1)+uint64(q.Look) {
				t.Errorf("%+v: came to %d from %d", q, page.Came, q.After)
			}
			if q.After = page.Came; page.Came == page.Last {
				break
			}
			if calls > 100 {
				t.Fatal("it does not come to its end")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: %s", q, diff)
		}
	}
	page := journalOf(t, s, store.JournalQuery{TableID: id, After: want[0].Seq, Through: want[2].Seq})
	if diff := cmp.Diff(want[1:3], page.Records); diff != "" || page.Came != want[2].Seq {
		t.Errorf("up to %d, came to %d: %s", want[2].Seq, page.Came, diff)
	}
	for _, unknown := range []string{"", "none"} {
		_, err := s.JournalOf(t.Context(), store.JournalQuery{TableID: unknown})
		storetest.WantFault(t, err, fault.NotFound, "table_not_found")
	}
}

// write fills the journal with n records of about 1 KB.
func write(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		storetest.Put(t, s, "matches", storetest.Item("match", fmt.Sprint(i), "text", strings.Repeat("x", 1000)))
	}
}

// The records of a stream stay for a day, across a restart, even if the journal alone would be trimmed by its size or age.
func TestStreamHoldsItsRecords(t *testing.T) {
	clk, path := newHands(), filepath.Join(t.TempDir(), "store.db")
	o := store.Options{NoSync: true, Now: clk.now, JournalBytes: 20_000, JournalAge: time.Minute}
	s := firstLife(t, path, o)
	if err := s.Define(t.Context(), storetest.Matches(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	write(t, s, 300)
	if kept := s.Seq() - s.FirstSeq(); kept > 100 {
		t.Fatalf("%d records stay without a stream", kept)
	}
	setStream(t, s, "balls", store.ViewBoth)
	began := s.Seq()
	write(t, s, 300)
	closeStore(t, s)
	s = storetest.OpenWith(t, path, o)
	clk.at = clk.at.Add(store.StreamAge - time.Second)
	write(t, s, 300)
	if first := s.FirstSeq(); first != began+1 {
		t.Errorf("the first record is %d, the stream begins behind %d", first, began)
	}
	setStream(t, s, "balls", "")
	clk.at = clk.at.Add(time.Minute) // now the first 300 are older than a day, the others are not
	write(t, s, 300)
	if first := s.FirstSeq(); first != began+301 {
		t.Errorf("the first record is %d, want %d", first, began+301)
	}
	clk.at = clk.at.Add(store.StreamAge) // and the stream is forgotten
	write(t, s, 600)
	if kept := s.Seq() - s.FirstSeq(); kept > 100 {
		t.Errorf("%d records stay after the stream", kept)
	}
}

// Above the size limit the oldest records go, and a reader that was behind is told.
func TestStreamHasABudget(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, JournalBytes: 20_000, StreamBytes: 200_000}, storetest.Matches())
	setStream(t, s, "matches", store.ViewBoth)
	began := describe(t, s, "matches").Streams[0].After
	write(t, s, 150)
	id := describe(t, s, "matches").ID
	if page := journalOf(t, s, store.JournalQuery{TableID: id, After: began}); page.First > began+1 || len(page.Records) != 150 {
		t.Errorf("%d records from %d on, within the budget", len(page.Records), page.First)
	}
	write(t, s, 600)
	page := journalOf(t, s, store.JournalQuery{TableID: id, After: began})
	if page.First <= began+1 || s.Stats().Journal.Bytes > 300_000 || len(page.Records) < 150 || page.Records[0].Seq != page.First {
		t.Errorf("%d records from %d on, %d bytes, the stream began behind %d",
			len(page.Records), page.First, s.Stats().Journal.Bytes, began)
	}
}
