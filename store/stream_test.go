package store_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// hands is a clock that stands still until it is moved.
type hands struct{ at time.Time }

func (h *hands) now() time.Time { return h.at }

func newHands() *hands { return &hands{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func setStream(t testing.TB, s *store.Store, table string, view store.StreamView) {
	t.Helper()
	change(t, s, table, func(set *store.TableSettings) { set.Stream = view })
}

// A stream begins and ends with the setting; after its end it is listed for a day, across a restart.
func TestStreamsOfATable(t *testing.T) {
	clk, path := newHands(), filepath.Join(t.TempDir(), "store.db")
	o := store.Options{NoSync: true, Now: clk.now}
	s := firstLife(t, path, o)
	if err := s.Define(t.Context(), storetest.Matches()); err != nil {
		t.Fatal(err)
	}
	began := clk.at
	storetest.Put(t, s, "matches", storetest.Item("match", "before"))
	setStream(t, s, "matches", store.ViewNew)
	storetest.Put(t, s, "matches", storetest.Item("match", "within"))
	change(t, s, "matches", func(set *store.TableSettings) { set.Tags["a"] = "b" })
	clk.at = clk.at.Add(time.Hour)
	setStream(t, s, "matches", store.ViewBoth) // another view is another stream
	first := store.Stream{
		Label: "2026-03-01T12:00:00.000", View: store.ViewNew, Began: began,
		After: s.Seq() - 1, Ended: clk.at, Through: s.Seq(),
	}
	second := store.Stream{Label: "2026-03-01T13:00:00.000", View: store.ViewBoth, Began: clk.at, After: s.Seq()}
	closeStore(t, s)
	s = storetest.OpenWith(t, path, o)
	wantStreams(t, s, first, second)
	if got := describe(t, s, "matches"); got.Settings.Stream != store.ViewBoth || !reflect.DeepEqual(got.Streams, []store.Stream{first, second}) {
		t.Errorf("described as %+v", got)
	}
	storetest.Put(t, s, "matches", storetest.Item("match", "more"))
	clk.at = clk.at.Add(store.StreamAge)
	wantStreams(t, s, second)
	setStream(t, s, "matches", "")
	second.Ended, second.Through = clk.at, s.Seq()
	wantStreams(t, s, second)
	clk.at = clk.at.Add(store.StreamAge)
	wantStreams(t, s)
}

// The stream of a dropped table is listed for a day, even if empty, and differs from that of a table created again under the name at the
// same instant.
func TestStreamOfADroppedTable(t *testing.T) {
	clk := newHands()
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, Now: clk.now, JournalAge: time.Minute})
	make1 := func() string {
		if err := s.CreateTable(t.Context(), storetest.Matches(), store.TableSettings{Stream: store.ViewKeys}); err != nil {
			t.Fatal(err)
		}
		return describe(t, s, "matches").ID
	}
	a := make1()
	drop(t, s, "matches")
	housekeep(t, s)
	b := make1()
	got := s.Streams()
	if len(got) != 2 || got[0].TableID != a || got[1].TableID != b || got[0].Label == got[1].Label || got[0].Open() || !got[1].Open() ||
		got[0].Key != storetest.Matches().Key || got[0].Table != "matches" {
		t.Errorf("got %+v", got)
	}
	clk.at = clk.at.Add(store.StreamAge)
	housekeep(t, s)
	if got := s.Streams(); len(got) != 1 || s.KnownTables() != 1 {
		t.Errorf("after a day: %+v, %d tables", got, s.KnownTables())
	}
}

func wantStreams(t testing.TB, s *store.Store, want ...store.Stream) {
	t.Helper()
	var got []store.Stream
	for _, st := range s.Streams() {
		got = append(got, st.Stream)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestAViewSeesTheEndOfAStream: if a commit ends a stream and writes more, nobody sees the later writes in the stream, not even a View
// that begins when the commit is in the file and the catalogue is still the old one.
func TestAViewSeesTheEndOfAStream(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	stream := func(view store.StreamView, then func()) {
		err := s.UpdateTable(t.Context(), store.TableChange{Table: "balls", Settings: func(set *store.TableSettings) error {
			set.Stream = view
			then()
			return nil
		}})
		if err != nil {
			t.Error(err)
		}
	}
	stream(store.ViewNew, func() {})
	storetest.Put(t, s, "balls", storetest.Ball("a", 1))
	last := s.Seq()
	see := func(when string, open bool) {
		storetest.View(t, s, func(tx *store.Tx) error {
			streams, err := tx.StreamsOf("balls")
			if err != nil || len(streams) != 1 || streams[0].Open() != open {
				t.Fatalf("%s: %+v, %v", when, streams, err)
			}
			page, err := tx.JournalOf(store.JournalQuery{
				TableID: streams[0].TableID, After: streams[0].After, Through: streams[0].Through,
			})
			if err != nil || len(page.Records) != 1 || page.Came != last {
				t.Errorf("%s: %d records up to %d, want one up to %d: %v", when, len(page.Records), page.Came, last, err)
			}
			return nil
		})
	}
	see("before", true)
	defer failpoint.Arm(failpoint.On(failpoint.CommitWritten, 1, func() error {
		see("while it is committed", true)
		return nil
	}))()
	var writer sync.WaitGroup
	commits := s.Stats().Commits
	stream("", func() {
		writer.Go(func() {
			err := s.Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("a", 2)})
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		wait.Until(t, "the writer waits", func() bool { return s.Waiting() > 0 })
	})
	writer.Wait()
	if n := s.Stats().Commits - commits; n != 1 {
		t.Fatalf("%d commits: this test is about one", n)
	}
	see("after", false)
}

// The cost of a page of streams depends on the page, not on the number of streams.
func TestPageOfStreams(t *testing.T) {
	cost := map[int]float64{}
	for _, n := range []int{20, 200} {
		s := storetest.Open(t)
		for i := range n {
			spec := storetest.Matches()
			spec.Name = fmt.Sprintf("table-%03d", n-1-i)
			if err := s.CreateTable(t.Context(), spec, store.TableSettings{Stream: store.ViewKeys}); err != nil {
				t.Fatal(err)
			}
		}
		drop(t, s, "table-003")
		if err := s.UpdateTable(t.Context(), store.TableChange{Table: "table-004", Settings: func(set *store.TableSettings) error {
			set.Stream = ""
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		var names []string
		page, more := s.StreamsBehind("table-002", s.StreamsOf("table-002")[0].Label, 3)
		for _, st := range page {
			names = append(names, st.Table)
		}
		if want := []string{"table-003", "table-004", "table-005"}; !slices.Equal(names, want) || !more {
			t.Errorf("%v, %v; want %v and more", names, more, want)
		}
		if all, more := s.StreamsBehind("", "", n); len(all) != n || more || len(s.Streams()) != n {
			t.Errorf("%d of %d streams, more: %v", len(all), n, more)
		}
		cost[n] = testing.AllocsPerRun(5, func() { s.StreamsBehind("table-010", "", 5) })
	}
	if cost[200] > cost[20] {
		t.Errorf("a page of 5 takes %v allocations of 200 streams, %v of 20", cost[200], cost[20])
	}
}
