package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

func drop(t testing.TB, s *store.Store, name string) {
	t.Helper()
	if err := s.DropTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// A dropped table is gone at once; one created again under its name is a different table.
func TestDropAndCreateAgain(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	fillBalls(t, s, 2000)
	first, err := s.Describe("balls")
	if err != nil {
		t.Fatal(err)
	}
	drop(t, s, "balls")
	storetest.WantFault(t, s.DropTable(t.Context(), "balls"), fault.NotFound, "table_not_found")
	storetest.View(t, s, func(tx *store.Tx) error {
		_, err := tx.Get("balls", storetest.Ball("final", 1))
		storetest.WantFault(t, err, fault.NotFound, "table_not_found")
		return nil
	})
	if specs := s.Tables(); len(specs) != 1 || specs[0].Name != "matches" {
		t.Errorf("tables are %v", specs)
	}
	if err := s.CreateTable(t.Context(), storetest.Balls(), store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Describe("balls"); err != nil || d.ID == first.ID {
		t.Errorf("the new table has id %s as the old one: %v", d.ID, err)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "bowler", "archer"))
	storetest.Check(t, s)
	if d := s.Stats().Dropping; len(d) != 3 || d[0].Table != "balls" || d[0].Index != "bowler-index" {
		t.Errorf("dropping %v", d)
	}
	if _, err := s.Housekeep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := housekeep(t, s); n < 6 {
		t.Errorf("%d slices: that is too much at once", n)
	}
	if d := s.Stats().Dropping; len(d) != 0 {
		t.Errorf("still dropping %v", d)
	}
	if n := countIn(t, s, "balls", "bowler-index"); n != 1 {
		t.Errorf("%d items in the new table's index", n)
	}
}

// Records of a dropped table can be read until they are trimmed, with its name and both images; then what was kept for them goes too.
func TestJournalOfDroppedTable(t *testing.T) {
	now := time.Unix(1_563_096_600, 0)
	path := filepath.Join(t.TempDir(), "s.db")
	o := store.Options{NoSync: true, JournalAge: time.Hour, Now: func() time.Time { return now }}
	s := storetest.OpenWith(t, path, o, storetest.Balls(), storetest.Matches())
	for runs := range 3 {
		storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", runs), storetest.Ball("final", 2, "runs", runs))
		now = now.Add(25 * time.Minute)
	}
	drop(t, s, "balls")
	if err := s.CreateTable(t.Context(), storetest.Balls(), store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 100))
	housekeep(t, s)
	records := storetest.Journal(t, s, 0)
	if len(records) != 5 { // two of 7 are trimmed
		t.Fatalf("%d records", len(records))
	}
	for i, r := range records[:4] {
		storetest.WantItem(t, "old image", r.Old, storetest.Ball("final", i%2+1, "runs", i/2))
		storetest.WantItem(t, "new image", r.New, storetest.Ball("final", i%2+1, "runs", i/2+1))
		if r.Table != "balls" {
			t.Errorf("record of table %s", r.Table)
		}
	}
	storetest.Check(t, s)
	now = now.Add(25 * time.Minute)
	storetest.Put(t, s, "matches", storetest.Item("match", "final")) // trims records that later ones refer to
	if records = storetest.Journal(t, s, 0); len(records) != 4 || !storetest.SameItem(records[0].Old, storetest.Ball("final", 1, "runs", 1)) {
		t.Errorf("records are %+v", records)
	}
	storetest.Check(t, s)
	now = now.Add(2 * time.Hour)
	for range 3 { // the journal is trimmed when it is written to
		storetest.Put(t, s, "matches", storetest.Item("match", "final"))
		now = now.Add(2 * time.Hour)
	}
	housekeep(t, s)
	storetest.Check(t, s)
	for _, r := range storetest.Journal(t, s, 0) {
		if r.Table != "matches" {
			t.Errorf("a record of %s is left", r.Table)
		}
	}
	storetest.WantItem(t, "of the new table", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1, "runs", 100))
	if n := s.KnownTables(); n != 2 {
		t.Errorf("%d tables in the catalogue, want 2", n)
	}
	if more, err := s.Housekeep(t.Context()); more || err != nil {
		t.Errorf("there is more to do: %v", err)
	}
}

// An interrupted drop continues after a restart, wherever it was.
func TestDropGoesOnAfterRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	open := func() *store.Store {
		s, err := store.Open(path, store.Options{NoSync: true, JournalBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	fillBalls(t, s, 1500)
	drop(t, s, "balls")
	for rounds, more := 0, true; more; rounds++ {
		var err error
		if more, err = s.Housekeep(t.Context()); err != nil || rounds > 100 {
			t.Fatalf("round %d: %v", rounds, err)
		}
		storetest.Check(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open()
	}
	defer s.Close()
	if st := s.Stats(); len(st.Dropping) != 0 || len(s.Tables()) != 0 || s.KnownTables() != 0 {
		t.Errorf("left: %v", st.Dropping)
	}
	storetest.Check(t, s)
}

// A reader that started before the drop sees the table until it ends, even while the table is being emptied.
func TestReaderOfDroppedTable(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	fillBalls(t, s, 600)
	storetest.View(t, s, func(tx *store.Tx) error {
		drop(t, s, "balls")
		housekeep(t, s)
		n := 0
		for start := attr.Item(nil); ; {
			p, err := tx.Scan(store.Scan{Table: "balls", Index: "bowler-index", StartKey: start})
			if err != nil {
				return err
			}
			n += len(p.Items)
			if start = p.LastKey; start == nil {
				break
			}
		}
		if n != 400 {
			t.Errorf("%d items, want 400", n)
		}
		return nil
	})
}

// A full disk does not end housekeeping: the last space is reserved for deletes, and what is refused is done later.
func TestHousekeepOnFullStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	o := store.Options{NoSync: true, MaxSize: 4 << 20, JournalBytes: 1 << 10}
	s := storetest.OpenWith(t, path, o, storetest.Balls(), storetest.Matches())
	fillBalls(t, s, 2000)
	var err error
	for i := 0; err == nil; i++ {
		err = s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", time.Duration(i).String(), "text", attr.B(make([]byte, 20_000)))})
			return err
		})
	}
	if !fault.Is(err, fault.Full) {
		t.Fatal(err)
	}
	drop(t, s, "balls")
	refused := 0
	for more := true; more; {
		if more, err = s.Housekeep(t.Context()); err != nil {
			if refused++; !fault.Is(err, fault.Full) || refused > 10 {
				t.Fatal(err)
			}
			more = true
		}
	}
	if d := s.Stats().Dropping; len(d) != 0 {
		t.Errorf("still dropping %v", d)
	}
	storetest.Put(t, s, "matches", storetest.Item("match", "final"))
}
