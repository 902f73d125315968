package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

func TestJournalTellsWhatWasAskedAndDone(t *testing.T) {
	now := time.Date(2019, 7, 14, 9, 30, 0, 123, time.UTC)
	o := store.Options{NoSync: true, Now: func() time.Time { return now }}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls(), storetest.Matches())
	params := expr.Params{
		Names:  map[string]string{"#w": "wicket", "#r": "runs"},
		Values: storetest.Item(":w", "bowled", ":r", 0),
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1, "runs", 4), Condition: "attribute_not_exists(#m)",
			Params: expr.Params{Names: map[string]string{"#m": "match"}}})
		_, err2 := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", "final")})
		return errors.Join(err, err2)
	})
	now = now.Add(time.Minute)
	storetest.Update(t, s, func(tx *store.Tx) error {
		tx.SetOrigin("cloud")
		_, err := tx.Update(store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1),
			Update: "SET #w = :w", Condition: "#r > :r", Params: params})
		return err
	})
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 1)})
		return err
	})
	first := uint64(1<<40 + 1)
	one, two := storetest.Ball("final", 1, "runs", 4), storetest.Ball("final", 1, "runs", 4, "wicket", "bowled")
	want := []store.Record{
		{
			Seq: first, Txn: first, At: now.Add(-time.Minute), Table: "balls", Key: storetest.Ball("final", 1), Op: store.OpPut, New: one,
			Request: store.Request{
				Condition: "attribute_not_exists(#m)", Params: expr.Params{Names: map[string]string{"#m": "match"}},
			},
		},
		{
			Seq: first + 1, Txn: first, At: now.Add(-time.Minute), Table: "matches", Key: storetest.Item("match", "final"),
			Op: store.OpPut, New: storetest.Item("match", "final"),
		},
		{
			Seq: first + 2, Txn: first + 2, At: now, Table: "balls", Key: storetest.Ball("final", 1), Op: store.OpUpdate,
			Old: one, New: two, Origin: "cloud",
			Request: store.Request{Update: "SET #w = :w", Condition: "#r > :r", Params: params},
		},
		{
			Seq: first + 3, Txn: first + 3, At: now, Table: "balls", Key: storetest.Ball("final", 1), Op: store.OpDelete, Old: two,
		},
	}
	equal := cmp.Comparer(attr.Equal)
	if diff := cmp.Diff(want, storetest.Journal(t, s, 0), equal); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[2:], storetest.Journal(t, s, first+1), equal); diff != "" {
		t.Errorf("journal behind %d (-want +got):\n%s", first+1, diff)
	}
	if got, err := s.Journal(t.Context(), first, 1); err != nil || len(got) != 1 || got[0].Seq != first+1 {
		t.Errorf("with a limit of 1: %v, %v", got, err)
	}
	if got := storetest.Journal(t, s, s.Seq()); got != nil {
		t.Errorf("behind the end: %v", got)
	}
}

func TestTransactionSeesItsSequence(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	storetest.Update(t, s, func(tx *store.Tx) error {
		before := tx.Seq()
		_, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", "a")})
		if tx.Seq() != before+1 {
			t.Errorf("seq went from %d to %d", before, tx.Seq())
		}
		_, err2 := tx.Delete(store.DeleteItem{Table: "matches", Key: storetest.Item("match", "not there")})
		if tx.Seq() != before+1 {
			t.Errorf("a delete of nothing was journaled")
		}
		records, err3 := tx.Journal(before, 10)
		if len(records) != 1 {
			t.Errorf("the transaction sees %d of its records", len(records))
		}
		return errors.Join(err, err2, err3)
	})
	storetest.View(t, s, func(tx *store.Tx) error {
		if tx.Seq() != s.Seq() {
			t.Errorf("view is at %d, the store at %d", tx.Seq(), s.Seq())
		}
		return nil
	})
}

func TestCursors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(path, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.SetCursor("pusher", 7), tx.SetCursor("sse", 8), tx.SetCursor("pusher", 9))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, path, storetest.Quick())
	storetest.View(t, s, func(tx *store.Tx) error {
		if seq, ok, err := tx.Cursor("pusher"); seq != 9 || !ok || err != nil {
			t.Errorf("pusher: %d %v %v", seq, ok, err)
		}
		if seq, ok, err := tx.Cursor("sse"); seq != 8 || !ok || err != nil {
			t.Errorf("sse: %d %v %v", seq, ok, err)
		}
		return nil
	})
}

// TestTrimmingKeepsBothImages writes few items over and over with a small journal. The check at the end verifies that no image is missing
// and none is kept without need.
func TestTrimmingKeepsBothImages(t *testing.T) {
	o := store.Options{NoSync: true, JournalBytes: 20000}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls())
	last := map[int]attr.Item{}
	text := strings.Repeat("x", 500)
	for n := range 400 {
		it := storetest.Ball("final", n%7, "n", n, "text", text)
		storetest.Put(t, s, "balls", it)
		last[n%7] = it
		if n%31 == 0 {
			storetest.Update(t, s, func(tx *store.Tx) error {
				_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 3)})
				last[3] = nil
				return err
			})
		}
		if n%50 == 0 {
			storetest.Check(t, s)
		}
	}
	st := s.Stats()
	if st.Journal.Bytes > 22500 || st.Journal.First < s.Seq()-60 || st.Journal.First > s.Seq()-20 {
		t.Errorf("journal from %d to %d with %d bytes", st.Journal.First, s.Seq(), st.Journal.Bytes)
	}
	images := map[string]attr.Item{}
	for _, r := range storetest.Journal(t, s, 0) {
		if before, ok := images[storetest.Show(r.Key)]; ok {
			storetest.WantItem(t, "old image", r.Old, before)
		}
		images[storetest.Show(r.Key)] = r.New
	}
	for n, it := range last {
		storetest.WantItem(t, "item", storetest.Get(t, s, "balls", storetest.Ball("final", n)), it)
	}
}

func TestTrimmingByAgeStopsAtCursors(t *testing.T) {
	now := time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)
	o := store.Options{NoSync: true, JournalAge: time.Hour, Now: func() time.Time { return now }}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Matches())
	base := s.Seq()
	write := func(n int) {
		for range n {
			storetest.Put(t, s, "matches", storetest.Item("match", "final"))
		}
	}
	wantFirst := func(what string, want uint64) {
		t.Helper()
		if got := s.FirstSeq() - base; got != want {
			t.Errorf("%s: first is %d, want %d", what, got, want)
		}
	}
	storetest.Update(t, s, func(tx *store.Tx) error { return errors.Join(tx.SetCursor("a", base+4), tx.SetCursor("b", base+9)) })
	write(10)
	wantFirst("young", 1)
	now = now.Add(61 * time.Minute)
	write(1)
	wantFirst("old, cursor at 4", 5)
	now = now.Add(2 * time.Minute)
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("a", base+100) })
	wantFirst("old, cursor at 9", 10)
	now = now.Add(2 * time.Minute)
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("b", base+100) })
	wantFirst("old, cursor past the end", 11)
	now = now.Add(61 * time.Minute)
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("a", base+101) })
	wantFirst("all old", 12)
	if s.Seq() != base+11 {
		t.Errorf("last is %d", s.Seq()-base)
	}
	write(1)
	if s.Seq() != base+12 {
		t.Errorf("after an empty journal: last is %d", s.Seq()-base)
	}
}
