package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/housekeeping"
)

// openIndexed creates a store of three notes with an index.
func openIndexed(t *testing.T, o Options) *Store {
	t.Helper()
	s := openNotes(t, o)
	spec := notes
	spec.Indexes = []IndexSpec{{Name: "by-text", Key: KeySpec{Partition: KeyAttr{Name: "text", Type: KeyString}}}}
	if err := s.Define(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for id := range 3 {
		if err := putNote(t.Context(), s, id, 10+id); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// rot changes a value behind the store's back, and makes the store forget what it has verified.
func rot(t *testing.T, s *Store, bucket, key []byte, change func(v []byte)) {
	t.Helper()
	s.engine.Readers.Suspend()
	defer s.engine.Readers.Resume()
	err := s.engine.Bolt.Update(func(btx *bolt.Tx) error {
		b := btx.Bucket(bucket)
		v := slices.Clone(b.Get(key))
		change(v)
		return b.Put(key, v)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.engine.Intact = format.Intact{}
}

func flip(bit int) func([]byte) { return func(v []byte) { v[bit/8] ^= 1 << (bit % 8) } }

func noteKey(id int) attr.Item { return attr.Item{"id": attr.Int(int64(id))} }

func rawNote(t *testing.T, s *Store, id int) []byte {
	t.Helper()
	key, err := s.engine.Cat.Load().ByName["notes"].RequestKey(noteKey(id))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func getNote(t *testing.T, s *Store, id int) (it attr.Item, err error) {
	t.Helper()
	err = s.View(t.Context(), func(tx *Tx) error {
		it, err = tx.Get("notes", noteKey(id))
		return err
	})
	return it, err
}

// Whichever bit of a row is flipped, its item is refused, and the others are not.
func TestFlippedBitIsRefused(t *testing.T) {
	s := openIndexed(t, Options{NoSync: true})
	key, bucket := rawNote(t, s, 1), s.engine.Cat.Load().ByName["notes"].Bucket
	bits := 0
	rot(t, s, bucket, key, func(v []byte) { bits = 8 * len(v) })
	for bit := range bits {
		rot(t, s, bucket, key, flip(bit))
		it, err := getNote(t, s, 1)
		if !fault.Is(err, fault.Damaged) || it != nil {
			t.Fatalf("bit %d: got %v, %v", bit, it, err)
		}
		rot(t, s, bucket, key, flip(bit))
	}
	rot(t, s, bucket, key, flip(bits-3)) // in the text
	before := s.Scrub().Refused
	for name, do := range map[string]func(tx *Tx) error{
		"query": func(tx *Tx) error {
			_, err := tx.Query(Query{Table: "notes", Index: "by-text", KeyCondition: "#t = :t", Params: textParams(11)})
			return err
		},
		"scan": func(tx *Tx) error {
			_, err := tx.Scan(Scan{Table: "notes"})
			return err
		},
		"put": func(tx *Tx) error {
			_, err := tx.Put(PutItem{Table: "notes", Item: noteKey(1)})
			return err
		},
		"update": func(tx *Tx) error {
			_, err := tx.Update(UpdateItem{Table: "notes", Key: noteKey(1), Update: "REMOVE title"})
			return err
		},
		"delete": func(tx *Tx) error {
			_, err := tx.Delete(DeleteItem{Table: "notes", Key: noteKey(1)})
			return err
		},
		"adopt": func(tx *Tx) error {
			_, err := tx.Adopt("notes", noteKey(1), nil)
			return err
		},
	} {
		err := s.Update(t.Context(), do)
		if !fault.Is(err, fault.Damaged) || !strings.Contains(err.Error(), "table notes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.Scrub().Refused - before; n != 6 {
		t.Errorf("%d refusals are counted of 6", n)
	}
	if it, err := getNote(t, s, 2); it == nil || err != nil || s.engine.Err() != nil {
		t.Errorf("another item: %v, %v; %v", it, err, s.engine.Err())
	}
}

// A row under another key is not an item of that key.
func TestRowUnderAnotherKeyIsRefused(t *testing.T) {
	s := openIndexed(t, Options{NoSync: true})
	bucket := s.engine.Cat.Load().ByName["notes"].Bucket
	one, two := rawNote(t, s, 1), rawNote(t, s, 2)
	err := s.engine.Bolt.Update(func(btx *bolt.Tx) error {
		return btx.Bucket(bucket).Put(two, slices.Clone(btx.Bucket(bucket).Get(one)))
	})
	if err != nil {
		t.Fatal(err)
	}
	if it, err := getNote(t, s, 2); !fault.Is(err, fault.Damaged) {
		t.Errorf("got %v, %v", it, err)
	}
}

// housekeep runs a pass to its end, with a slice a minute.
func housekeep(t *testing.T, s *Store, now *time.Time) {
	t.Helper()
	before := s.Scrub().Ended
	*now = now.Add(housekeeping.ScrubEvery)
	for range 100 {
		if _, err := s.Housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Scrub().Ended.After(before) {
			return
		}
		*now = now.Add(time.Minute)
	}
	t.Fatal("the pass does not end")
}

// A pass finds damage in items, index entries and journal records that nobody reads, says where, and finds nothing once they are
// repaired.
func TestScrubFindsWhatNobodyReads(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s := openIndexed(t, Options{NoSync: true, Now: func() time.Time { return now }})
	table := s.engine.Cat.Load().ByName["notes"]
	housekeep(t, s, &now)
	if got := s.Scrub(); got.Damaged != 0 || got.Items != 3 || got.Ended.IsZero() {
		t.Fatalf("before: %+v", got)
	}
	if _, err := s.Housekeep(t.Context()); err != nil || s.Scrub().Running {
		t.Errorf("another pass begins within a day: %+v, %v", s.Scrub(), err)
	}
	first := func(bucket []byte) (key []byte) {
		_ = s.engine.Bolt.View(func(btx *bolt.Tx) error {
			k, _ := btx.Bucket(bucket).Cursor().First()
			key = slices.Clone(k)
			return nil
		})
		return key
	}
	for _, c := range []struct {
		bucket, key []byte
		where       string
	}{
		{table.Bucket, rawNote(t, s, 0), "notes"},
		{table.Indexes[0].Bucket, first(table.Indexes[0].Bucket), "notes/by-text"},
		{format.BucketJournal, format.SeqKey(s.FirstSeq()), "journal"},
	} {
		rot(t, s, c.bucket, c.key, flip(3))
		housekeep(t, s, &now)
		if got := s.Scrub(); got.Damaged == 0 || !slices.Contains(got.Where, c.where) {
			t.Errorf("%s: %+v", c.where, got)
		}
		rot(t, s, c.bucket, c.key, flip(3))
		housekeep(t, s, &now)
		if got := s.Scrub(); got.Damaged != 0 || len(got.Where) != 0 {
			t.Errorf("%s, as it was: %+v", c.where, got)
		}
	}
}

// What a pass finds is refused from then on, even if it was verified before.
func TestScrubHasDamageRefused(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s := openIndexed(t, Options{NoSync: true, Now: func() time.Time { return now }})
	bucket, key := s.engine.Cat.Load().ByName["notes"].Bucket, rawNote(t, s, 1)
	rot(t, s, bucket, key, flip(200))
	err := s.View(t.Context(), func(tx *Tx) error { // as if it had been verified before it was damaged
		b, err := tx.core.Bucket(bucket)
		if err == nil {
			at, mark := s.engine.Intact.Slot(b.Get(key))
			at.Store(mark)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	housekeep(t, s, &now)
	if it, err := getNote(t, s, 1); !fault.Is(err, fault.Damaged) {
		t.Errorf("got %v, %v", it, err)
	}
}

// makePlain turns a closed store into a file of format 2.
func makePlain(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(btx *bolt.Tx) error {
		err := btx.ForEach(func(name []byte, b *bolt.Bucket) error {
			plain := map[string][]byte{}
			_ = b.ForEach(func(k, v []byte) error {
				switch {
				case name[0] == format.KindTable && len(name) == format.BucketNameSize:
					plain[string(k)] = append([]byte{format.RowPlain}, v[format.RowSeq:]...)
				case string(name) == string(format.BucketJournal):
					plain[string(k)] = append([]byte{format.RecordPlain}, v[1:len(v)-format.RecordSum]...)
				}
				return nil
			})
			for k, v := range plain {
				if err := b.Put([]byte(k), v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return btx.Bucket(format.BucketMeta).Put(format.MetaFormat, []byte{0, 0, 0, format.OldestFormat})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func formatOf(t *testing.T, s *Store) (version byte) {
	t.Helper()
	err := s.engine.Bolt.View(func(btx *bolt.Tx) error {
		version = btx.Bucket(format.BucketMeta).Get(format.MetaFormat)[3]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// A file of format 2 is read as it is, becomes format 3 with its first commit, and a pass seals its rows. Items, journal and indexes stay
// the same.
func TestOlderFormat(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	o := Options{NoSync: true, Now: func() time.Time { return now }, JournalBytes: 1 << 20}
	s := openIndexed(t, o)
	path := s.Path()
	// Adjusts the size of the journal to the shorter records.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	makePlain(t, path)
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if it, err := getNote(t, s, 1); it == nil || err != nil || formatOf(t, s) != format.OldestFormat {
		t.Errorf("as it was: %v, %v, format %d", it, err, formatOf(t, s))
	}
	records, err := s.Journal(t.Context(), 0, 10)
	if err != nil || len(records) != 3 {
		t.Errorf("journal: %d records, %v", len(records), err)
	}
	if err := putNote(t.Context(), s, 2, 20); err != nil || formatOf(t, s) != format.FormatVersion {
		t.Errorf("format %d after a commit, %v", formatOf(t, s), err)
	}
	seq := s.Seq()
	housekeep(t, s, &now)
	if got := s.Scrub(); got.Damaged != 0 || s.Seq() != seq {
		t.Errorf("sealed: %+v, %d records", got, s.Seq()-seq)
	}
	for id := range 3 {
		if it, err := getNote(t, s, id); it == nil || err != nil {
			t.Errorf("note %d: %v, %v", id, it, err)
		}
		rot(t, s, s.engine.Cat.Load().ByName["notes"].Bucket, rawNote(t, s, id), flip(8*30))
		if it, err := getNote(t, s, id); !fault.Is(err, fault.Damaged) {
			t.Errorf("note %d, damaged: %v, %v", id, it, err)
		}
	}
}

// Check names what is damaged, in the store and in a copy of it, and no backup is made of it.
func TestCheckAndBackupRefuseDamage(t *testing.T) {
	for name, c := range map[string]struct {
		bucket func(*Store) []byte
		key    func(*Store) []byte
		says   string
	}{
		"item": {
			func(s *Store) []byte { return s.engine.Cat.Load().ByName["notes"].Bucket },
			func(s *Store) []byte { return rawNote(t, s, 1) }, "an item of table notes differs from what was written",
		},
		"record": {
			func(*Store) []byte { return format.BucketJournal },
			func(s *Store) []byte { return format.SeqKey(s.FirstSeq()) }, "a journal record does not match its checksum",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openIndexed(t, Options{NoSync: true})
			to := filepath.Join(t.TempDir(), "backup")
			if _, err := s.Backup(t.Context(), to+"-before", nil); err != nil {
				t.Fatal(err)
			}
			rot(t, s, c.bucket(s), c.key(s), func(v []byte) { v[len(v)-6] ^= 4 })
			_, err := s.Backup(t.Context(), to, nil)
			if !fault.Is(err, fault.Damaged) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("backup: %v", err)
			}
			problems, err := s.CheckCopy(t.Context(), nil)
			if err != nil || !strings.Contains(fmt.Sprint(problems), "does not match its checksum") {
				t.Errorf("check of a copy: %v, %v", problems, err)
			}
			problems, err = s.CheckCopy(t.Context(), nil)
			if err != nil || !strings.Contains(fmt.Sprint(problems), "does not match its checksum") {
				t.Errorf("check: %v, %v", problems, err)
			}
			path := s.Path()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			problems, err = CheckFile(t.Context(), path, nil)
			if err != nil || !strings.Contains(fmt.Sprint(problems), "does not match its checksum") {
				t.Errorf("check of the file: %v, %v", problems, err)
			}
		})
	}
}

// A damaged journal record is refused to readers, and does not stop commits when it is trimmed.
func TestDamagedRecordIsTrimmed(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s := openIndexed(t, Options{NoSync: true, Now: func() time.Time { return now }})
	damaged := s.FirstSeq()
	rot(t, s, format.BucketJournal, format.SeqKey(damaged), flip(8*20))
	if records, err := s.Journal(t.Context(), 0, 10); !fault.Is(err, fault.Damaged) {
		t.Errorf("got %v, %v", records, err)
	}
	now = now.Add(48 * time.Hour)
	if err := putNote(t.Context(), s, 5, 5); err != nil || s.engine.Err() != nil || s.FirstSeq() <= damaged {
		t.Errorf("trimmed to %d, %v, %v", s.FirstSeq()-damaged, err, s.engine.Err())
	}
}

func textParams(size int) expr.Params {
	return expr.Params{
		Names:  map[string]string{"#t": "text"},
		Values: attr.Item{":t": attr.S(strings.Repeat("x", size))},
	}
}

// A node that stops while the pass reads has found nothing damaged, wherever it was.
func TestStopIsNoDamage(t *testing.T) {
	for asked := range 100 {
		s := openIndexed(t, Options{NoSync: true})
		_, err := s.Housekeep(&stopping{Context: t.Context(), left: asked})
		if w := s.Scrub(); w.Damaged != 0 {
			t.Errorf("stopped after %d looks: %+v", asked, w)
		}
		if err == nil { // it came to its end
			if asked < 5 {
				t.Errorf("it looked only %d times whether to stop", asked)
			}
			return
		}
	}
	t.Error("it never ends")
}

// stopping is a context that is canceled after that was asked a number of times.
type stopping struct {
	context.Context //nolint:containedctx // it is one

	left int
}

func (c *stopping) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
