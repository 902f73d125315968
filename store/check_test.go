package store

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
)

// TestCheckFindsEachBrokenPromise breaks one promise after the other behind the store's back.
func TestCheckFindsEachBrokenPromise(t *testing.T) {
	spec := notes
	spec.Indexes = []IndexSpec{{Name: "by-text", Key: KeySpec{Partition: KeyAttr{Name: "text", Type: KeyString}}}}
	stray := func(b *bolt.Bucket) error { return b.Put([]byte("stray"), []byte{1}) }
	dropFirst := func(b *bolt.Bucket) error {
		k, _ := b.Cursor().First()
		return b.Delete(k)
	}
	cases := map[string]struct {
		bucket func(*table) []byte
		damage func(*bolt.Bucket) error
		says   string
	}{
		"item without entry": {func(t *table) []byte { return t.indexes[0].bucket }, dropFirst, "has no entry"},
		"entry without item": {func(t *table) []byte { return t.indexes[0].bucket }, stray, "has no item"},
		"row of nothing":     {func(t *table) []byte { return t.bucket }, stray, "no known version"},
		"item gone":          {func(t *table) []byte { return t.bucket }, dropFirst, "has no item"},
		"item moved":         {func(t *table) []byte { return t.bucket }, moveFirst, "does not lie under its key"},
		"item changed":       {func(t *table) []byte { return t.bucket }, changeFirst, "is not what record"},
		"record gone":        {func(*table) []byte { return bucketJournal }, dropFirst, "begins at"},
		"record in the past": {func(*table) []byte { return bucketJournal }, copyTo(seqKey(5)), "kept for nobody"},
		"record too many":    {func(*table) []byte { return bucketJournal }, copyTo(seqKey(1 << 50)), "lies after the last"},
		"books":              {func(*table) []byte { return bucketMeta }, changeBooks, "according to the counter"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := openNotes(t, Options{NoSync: true})
			if err := s.Define(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
			for id := range 3 {
				if err := putNote(t.Context(), s, id, 10+id); err != nil {
					t.Fatal(err)
				}
			}
			if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Fatalf("before: %v, %v", problems, err)
			}
			bucket := c.bucket(s.cat.Load().tables["notes"])
			if err := s.db.Update(func(btx *bolt.Tx) error { return c.damage(btx.Bucket(bucket)) }); err != nil {
				t.Fatal(err)
			}
			if name == "books" {
				s.journal.Store(&journalState{first: 1<<40 + 1, last: 1<<40 + 3, bytes: 1})
			}
			problems, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, p := range problems {
				all.WriteString(p.String() + "\n")
			}
			if !strings.Contains(all.String(), c.says) {
				t.Errorf("got %q, want %q", all.String(), c.says)
			}
		})
	}
}

// TestCheckFindsBrokenTables breaks what the catalogue says of tables and indexes that are being filled or dropped.
func TestCheckFindsBrokenTables(t *testing.T) {
	text := IndexSpec{Name: "by-text", Key: KeySpec{Partition: KeyAttr{Name: "text", Type: KeyString}}}
	for name, c := range map[string]struct {
		damage func(*bolt.Tx, *table) error
		says   string // empty: nothing
	}{
		"nothing":  {func(*bolt.Tx, *table) error { return nil }, ""},
		"no items": {func(btx *bolt.Tx, t *table) error { return btx.DeleteBucket(t.bucket) }, "is missing"},
		"no index": {func(btx *bolt.Tx, t *table) error { return btx.DeleteBucket(t.indexes[0].bucket) }, "is missing"},
		"left over": {func(btx *bolt.Tx, t *table) error {
			_, err := btx.CreateBucket(bucketName(kindIndex, t.id))
			return err
		}, "belongs to no table"},
		"entry behind the filling gone": {func(btx *bolt.Tx, t *table) error { return dropEntry(btx, t, false) }, "has no entry"},
		"entry before the filling gone": {func(btx *bolt.Tx, t *table) error { return dropEntry(btx, t, true) }, ""},
		"size": {func(btx *bolt.Tx, t *table) error {
			k, v := btx.Bucket(t.bucket).Cursor().First()
			changed := row(slices.Clone(v))
			changed[rowSize+3]++
			changed.seal(k, changed.seq())
			return btx.Bucket(t.bucket).Put(k, changed)
		}, "has a size of"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNotes(t, Options{NoSync: true})
			for id := range 10 {
				if err := putNote(t.Context(), s, id, 10+id); err != nil {
					t.Fatal(err)
				}
			}
			s.SmallSlices(4)
			if err := s.UpdateTable(t.Context(), TableChange{Table: "notes", AddIndexes: []IndexSpec{text}}); err != nil {
				t.Fatal(err)
			}
			if err := putNote(t.Context(), s, 9, 5); err != nil {
				t.Fatal(err)
			}
			err := s.db.Update(func(btx *bolt.Tx) error { return c.damage(btx, s.cat.Load().tables["notes"]) })
			if err != nil {
				t.Fatal(err)
			}
			problems, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) == 0 != (c.says == "") || c.says != "" && !strings.Contains(problems[0].String(), c.says) {
				t.Errorf("got %v, want %q", problems, c.says)
			}
		})
	}
}

// dropEntry takes out the entry of an item that the filling has come to, or of one before it.
func dropEntry(btx *bolt.Tx, t *table, before bool) error {
	ix := t.indexes[0]
	bucket := btx.Bucket(ix.bucket)
	return bucket.ForEach(func(k, v []byte) error {
		primary, err := ix.primaryOf(k, v)
		if err != nil || (bytes.Compare(primary, ix.fill.upTo) > 0) != before {
			return err
		}
		return bucket.Delete(k)
	})
}

func moveFirst(b *bolt.Bucket) error {
	k, v := b.Cursor().First()
	moved := row(slices.Clone(v))
	moved.seal([]byte("elsewhere"), moved.seq())
	if err := b.Put([]byte("elsewhere"), moved); err != nil {
		return err
	}
	return b.Delete(k)
}

func changeFirst(b *bolt.Bucket) error {
	k, v := b.Cursor().First()
	it, err := row(v).decode()
	if err != nil {
		return err
	}
	it["more"] = attr.Bool(true)
	changed := newRow(it, attr.Size(it), nil)
	changed.seal(k, row(v).seq())
	return b.Put(k, changed)
}

func copyTo(key []byte) func(*bolt.Bucket) error {
	return func(b *bolt.Bucket) error {
		_, v := b.Cursor().First()
		return b.Put(key, append([]byte(nil), v...))
	}
}

func changeBooks(*bolt.Bucket) error { return nil } // they are changed in memory, where the next commit takes them from
