package txn

import (
	"encoding/binary"
	"maps"

	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// SaveTable writes a table's row in the catalogue, adds the table to next, and makes next the catalogue of this transaction.
func (tx *Tx) SaveTable(next *catalogue.Tables, t *catalogue.Table) error {
	encoded, err := t.Encode()
	if err != nil {
		return err
	}
	tables, err := tx.Bucket(format.BucketTables)
	if err != nil {
		return err
	}
	meta, err := tx.Bucket(format.BucketMeta)
	if err != nil {
		return err
	}
	key := catalogue.TableKey(t.ID)
	if err := tx.Batch.Set(tables, key, encoded, tables.Get(key)); err != nil {
		return err
	}
	if id := binary.BigEndian.AppendUint32(nil, next.NextID); next.NextID != tx.Cat.NextID {
		if err := tx.Batch.Set(meta, format.MetaNextID, id, meta.Get(format.MetaNextID)); err != nil {
			return err
		}
	}
	next.Add(t)
	tx.Cat = next
	return nil
}

// forgetTable removes the row of a dropped table from the catalogue.
func (tx *Tx) forgetTable(t *catalogue.Table) error {
	tables, err := tx.Bucket(format.BucketTables)
	if err != nil {
		return err
	}
	key := catalogue.TableKey(t.ID)
	if err := tx.Batch.remove(tables, key, tables.Get(key)); err != nil {
		return err
	}
	next := tx.Cat.Clone()
	delete(next.ByID, t.ID)
	next.SetStreaming(t, false)
	tx.Cat = next
	return nil
}

// tableOf returns the table that a journal record is about, dropped or not. A snapshot may be one commit ahead of its catalogue; then the
// table may only be in the file.
func (tx *Tx) tableOf(id uint32) (*catalogue.Table, error) {
	if t := tx.Cat.ByID[id]; t != nil {
		return t, nil
	}
	tables, err := tx.Bucket(format.BucketTables)
	if err != nil {
		return nil, err
	}
	if encoded := tables.Get(catalogue.TableKey(id)); encoded != nil {
		return catalogue.DecodeTable(encoded)
	}
	return nil, refusal.DamagedData(nil, "the journal names an unknown table, %d", id)
}

func (tx *Tx) createBucket(name []byte) error {
	if _, err := tx.Btx.CreateBucket(name); err != nil {
		return err
	}
	tx.Batch.Grows = true
	tx.Batch.AddUndo(UndoEntry{Again: func() error { return tx.Btx.DeleteBucket(name) }}, 0)
	return nil
}

// deleteBucket deletes an empty bucket that the transaction has not touched. Undo creates a new one.
func (tx *Tx) deleteBucket(name []byte) error {
	if err := tx.Btx.DeleteBucket(name); err != nil {
		return err
	}
	tx.Batch.AddUndo(UndoEntry{Again: func() error {
		_, err := tx.Btx.CreateBucket(name)
		return err
	}}, 0)
	return nil
}

// CreateTable creates a table from a checked spec.
func (tx *Tx) CreateTable(spec catalogue.TableSpec, settings catalogue.TableSettings) error {
	next := tx.Cat.Clone()
	t := catalogue.NewTable(next.TakeID(), spec)
	t.UUID, t.Created = catalogue.NewUUID(), tx.Now().UnixNano()
	if err := tx.createBucket(t.Bucket); err != nil {
		return err
	}
	for _, ixSpec := range spec.Indexes {
		ix := catalogue.NewIndex(next.TakeID(), ixSpec)
		if err := tx.createBucket(ix.Bucket); err != nil {
			return err
		}
		t.Indexes = append(t.Indexes, ix)
	}
	tx.setSettings(t, settings)
	return tx.SaveTable(next, t)
}

// ChangeTable changes a table to a spec that it may become, and to the given settings. added says whether new indexes are marked as added
// by UpdateTable.
func (tx *Tx) ChangeTable(have *catalogue.Table, spec catalogue.TableSpec, settings catalogue.TableSettings, added bool) error {
	next := tx.Cat.Clone()
	t := have.Clone()
	t.Spec = spec
	indexes := make([]*catalogue.Index, 0, len(spec.Indexes))
	for _, ixSpec := range spec.Indexes {
		ix := have.Find(ixSpec.Name)
		if ix == nil {
			var err error
			if ix, err = tx.addIndex(t, catalogue.NewIndex(next.TakeID(), ixSpec)); err != nil {
				return err
			}
			ix.Added = added
		}
		indexes = append(indexes, ix)
	}
	t.SetIndexes(indexes)
	for _, ix := range have.Indexes {
		if t.Find(ix.Spec.Name) == nil {
			t.Leaving = append(t.Leaving, catalogue.Leftover{Kind: string(format.KindIndex), ID: ix.ID, Name: ix.Spec.Name})
		}
	}
	tx.setSettings(t, settings)
	return tx.SaveTable(next, t)
}

// addIndex creates the bucket of an index and fills a first slice of it, which is all of it if the table is small.
func (tx *Tx) addIndex(t *catalogue.Table, ix *catalogue.Index) (*catalogue.Index, error) {
	if err := tx.createBucket(ix.Bucket); err != nil {
		return nil, err
	}
	ix.Fill = &catalogue.Filling{}
	return tx.FillSlice(t, ix)
}

// DropTable hides a table and leaves its buckets to housekeeping.
func (tx *Tx) DropTable(t *catalogue.Table) error {
	gone := t.Clone()
	gone.Dropped, gone.Through = true, tx.JournalState().Last
	tx.setStream(gone)
	for _, ix := range t.Indexes {
		gone.Leaving = append(gone.Leaving, catalogue.Leftover{Kind: string(format.KindIndex), ID: ix.ID, Name: ix.Spec.Name})
	}
	gone.Leaving = append(gone.Leaving, catalogue.Leftover{Kind: string(format.KindTable), ID: t.ID})
	gone.SetIndexes(nil)
	return tx.SaveTable(tx.Cat.Clone(), gone)
}

// setSettings sets the checked settings of a table that is being changed, and starts and ends its streams accordingly.
func (tx *Tx) setSettings(t *catalogue.Table, s catalogue.TableSettings) {
	s = s.Clone()
	maps.DeleteFunc(s.Indexes, func(name string, _ catalogue.Throughput) bool {
		ix := t.Spec.IndexSpec(name)
		return ix == nil || ix.Local
	})
	t.Settings = s.Plain()
	tx.setStream(t)
}

// setStream starts and ends streams of a table that is being changed, by its settings. A stream has the same view from start to end.
func (tx *Tx) setStream(t *catalogue.Table) {
	t.Streams = t.ShownStreams(tx.Now()) // drops streams that are no longer listed
	want := t.Settings.Stream
	if t.Dropped {
		want = ""
	}
	last := tx.JournalState().Last
	if st := t.Present(); st != nil {
		if st.View == want {
			return
		}
		st.Ended, st.Through = catalogue.PlainTime(tx.Now()), last
	}
	if want == "" {
		return
	}
	if t.UUID == "" {
		t.UUID = catalogue.NewUUID()
	}
	began := tx.Cat.NewLabel(t, catalogue.PlainTime(tx.Now()))
	t.Streams = append(t.Streams, catalogue.Stream{
		Label: began.Format(catalogue.LabelLayout), View: want, Began: began, After: last,
	})
}
