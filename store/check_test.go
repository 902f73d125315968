package store

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// TestCheckFindsEachBrokenPromise violates one guarantee after the other behind the store's back.
func TestCheckFindsEachBrokenPromise(t *testing.T) {
	spec := notes
	spec.Indexes = []IndexSpec{{Name: "by-text", Key: KeySpec{Partition: KeyAttr{Name: "text", Type: KeyString}}}}
	stray := func(b *bolt.Bucket) error { return b.Put([]byte("stray"), []byte{1}) }
	dropFirst := func(b *bolt.Bucket) error {
		k, _ := b.Cursor().First()
		return b.Delete(k)
	}
	cases := map[string]struct {
		bucket func(*catalogue.Table) []byte
		damage func(*bolt.Bucket) error
		says   string
	}{
		"item without entry": {func(t *catalogue.Table) []byte { return t.Indexes[0].Bucket }, dropFirst, "has no entry"},
		"entry without item": {func(t *catalogue.Table) []byte { return t.Indexes[0].Bucket }, stray, "has no item"},
		"row of nothing":     {func(t *catalogue.Table) []byte { return t.Bucket }, stray, "unknown version"},
		"item gone":          {func(t *catalogue.Table) []byte { return t.Bucket }, dropFirst, "has no item"},
		"item moved":         {func(t *catalogue.Table) []byte { return t.Bucket }, moveFirst, "is under a wrong key"},
		"item changed":       {func(t *catalogue.Table) []byte { return t.Bucket }, changeFirst, "differs from record"},
		"record gone":        {func(*catalogue.Table) []byte { return format.BucketJournal }, dropFirst, "begins at"},
		"record in the past": {func(*catalogue.Table) []byte { return format.BucketJournal }, copyTo(format.SeqKey(5)), "there without need"},
		"record too many":    {func(*catalogue.Table) []byte { return format.BucketJournal }, copyTo(format.SeqKey(1 << 50)), "lies after the last"},
		"books":              {func(*catalogue.Table) []byte { return format.BucketMeta }, changeBooks, "according to the counter"},
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
			if problems, err := s.CheckCopy(t.Context(), nil); err != nil || len(problems) > 0 {
				t.Fatalf("before: %v, %v", problems, err)
			}
			bucket := c.bucket(s.engine.Cat.Load().ByName["notes"])
			if err := s.engine.Bolt.Update(func(btx *bolt.Tx) error { return c.damage(btx.Bucket(bucket)) }); err != nil {
				t.Fatal(err)
			}
			problems, err := s.CheckCopy(t.Context(), nil)
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

// TestCheckFindsBrokenTables corrupts the catalogue's data about tables and indexes that are being filled or dropped.
func TestCheckFindsBrokenTables(t *testing.T) {
	text := IndexSpec{Name: "by-text", Key: KeySpec{Partition: KeyAttr{Name: "text", Type: KeyString}}}
	for name, c := range map[string]struct {
		damage func(*bolt.Tx, *catalogue.Table) error
		says   string // empty: no problem
	}{
		"nothing":  {func(*bolt.Tx, *catalogue.Table) error { return nil }, ""},
		"no items": {func(btx *bolt.Tx, t *catalogue.Table) error { return btx.DeleteBucket(t.Bucket) }, "is missing"},
		"no index": {func(btx *bolt.Tx, t *catalogue.Table) error { return btx.DeleteBucket(t.Indexes[0].Bucket) }, "is missing"},
		"left over": {func(btx *bolt.Tx, t *catalogue.Table) error {
			_, err := btx.CreateBucket(format.BucketName(format.KindIndex, t.ID))
			return err
		}, "belongs to no table"},
		"entry behind the filling gone": {func(btx *bolt.Tx, t *catalogue.Table) error { return dropEntry(btx, t, false) }, "has no entry"},
		"entry before the filling gone": {func(btx *bolt.Tx, t *catalogue.Table) error { return dropEntry(btx, t, true) }, ""},
		"size": {func(btx *bolt.Tx, t *catalogue.Table) error {
			k, v := btx.Bucket(t.Bucket).Cursor().First()
			changed := format.Row(slices.Clone(v))
			changed[format.RowSize+3]++
			changed.Seal(k, changed.Seq())
			return btx.Bucket(t.Bucket).Put(k, changed)
		}, "records a size of"},
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
			err := s.engine.Bolt.Update(func(btx *bolt.Tx) error { return c.damage(btx, s.engine.Cat.Load().ByName["notes"]) })
			if err != nil {
				t.Fatal(err)
			}
			problems, err := s.CheckCopy(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) == 0 != (c.says == "") || c.says != "" && !strings.Contains(problems[0].String(), c.says) {
				t.Errorf("got %v, want %q", problems, c.says)
			}
		})
	}
}

// dropEntry removes the entry of the item that the filling has reached, or of one before it.
func dropEntry(btx *bolt.Tx, t *catalogue.Table, before bool) error {
	ix := t.Indexes[0]
	bucket := btx.Bucket(ix.Bucket)
	return bucket.ForEach(func(k, v []byte) error {
		primary, err := ix.PrimaryOf(k, v)
		if err != nil || (bytes.Compare(primary, ix.Fill.UpTo) > 0) != before {
			return err
		}
		return bucket.Delete(k)
	})
}

func moveFirst(b *bolt.Bucket) error {
	k, v := b.Cursor().First()
	moved := format.Row(slices.Clone(v))
	moved.Seal([]byte("elsewhere"), moved.Seq())
	if err := b.Put([]byte("elsewhere"), moved); err != nil {
		return err
	}
	return b.Delete(k)
}

func changeFirst(b *bolt.Bucket) error {
	k, v := b.Cursor().First()
	it, err := format.Row(v).Decode()
	if err != nil {
		return err
	}
	it["more"] = attr.Bool(true)
	changed := format.NewRow(it, attr.Size(it), nil)
	changed.Seal(k, format.Row(v).Seq())
	return b.Put(k, changed)
}

func copyTo(key []byte) func(*bolt.Bucket) error {
	return func(b *bolt.Bucket) error {
		_, v := b.Cursor().First()
		return b.Put(key, append([]byte(nil), v...))
	}
}

func changeBooks(b *bolt.Bucket) error {
	return b.Put(format.MetaJournal, format.JournalState{First: 1<<40 + 1, Last: 1<<40 + 3, Bytes: 1}.Encode())
}
