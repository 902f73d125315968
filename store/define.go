package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/touchline/touchline/internal/fault"
)

// Define makes the tables that are not there and brings the others to what their spec says: an index is added and
// filled, or dropped, in the same transaction; the TTL attribute and the policy change at once. Keys cannot change.
// Tables that are not named stay as they are. Defining what is there already writes nothing.
func (s *Store) Define(ctx context.Context, specs ...TableSpec) error {
	return s.Update(ctx, func(tx *Tx) error {
		for _, spec := range specs {
			if err := spec.check(); err != nil {
				return err
			}
			if err := tx.define(cloneSpec(spec)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (tx *Tx) define(spec TableSpec) error {
	have := tx.cat.tables[spec.Name]
	if have == nil {
		return tx.breakOff(tx.createTable(spec))
	}
	if have.spec.Key != spec.Key {
		return fault.New(fault.Conflict, "table_differs", "table %s is there with another key", spec.Name)
	}
	for _, ix := range spec.Indexes {
		if old, err := have.index(ix.Name); err == nil && old.spec.Key != ix.Key {
			return fault.New(fault.Conflict, "table_differs",
				"index %s of table %s is there with another key", ix.Name, spec.Name)
		}
	}
	if sameSpec(have.spec, spec) {
		return nil
	}
	return tx.breakOff(tx.changeTable(have, spec))
}

func sameSpec(a, b TableSpec) bool {
	same := a.Name == b.Name && a.Key == b.Key && a.TTL == b.TTL && a.Policy == b.Policy && a.Why == b.Why
	return same && slices.EqualFunc(a.Indexes, b.Indexes, func(x, y IndexSpec) bool {
		return x.Name == y.Name && x.Key == y.Key && x.Projection == y.Projection && slices.Equal(x.Include, y.Include)
	})
}

func (tx *Tx) createTable(spec TableSpec) error {
	next := tx.cat.clone()
	t := newTable(next.takeID(), spec)
	if err := tx.createBucket(t.bucket); err != nil {
		return err
	}
	for _, ixSpec := range spec.Indexes {
		ix := newIndex(next.takeID(), ixSpec)
		if err := tx.createBucket(ix.bucket); err != nil {
			return err
		}
		t.indexes = append(t.indexes, ix)
	}
	return tx.saveTable(next, t)
}

func (tx *Tx) changeTable(have *table, spec TableSpec) error {
	next := tx.cat.clone()
	t := newTable(have.id, spec)
	for _, ixSpec := range spec.Indexes {
		old, err := have.index(ixSpec.Name)
		if err == nil {
			ix := newIndex(old.id, ixSpec)
			t.indexes = append(t.indexes, ix)
			continue
		}
		ix := newIndex(next.takeID(), ixSpec)
		if err := tx.createBucket(ix.bucket); err != nil {
			return err
		}
		if err := tx.fillIndex(t, ix); err != nil {
			return err
		}
		t.indexes = append(t.indexes, ix)
	}
	for _, ix := range have.indexes {
		if _, err := t.index(ix.spec.Name); err != nil {
			if err := tx.emptyBucket(ix.bucket); err != nil {
				return err
			}
		}
	}
	return tx.saveTable(next, t)
}

// fillIndex makes the entries of the items that are there. Items whose attributes cannot be keys of the index are left
// out of it, as DynamoDB does with items that were there before.
func (tx *Tx) fillIndex(t *table, ix *index) error {
	bucket, err := tx.bucket(t.bucket)
	if err != nil {
		return err
	}
	return bucket.ForEach(func(k, v []byte) error {
		r := row(v)
		if err := r.check(); err != nil {
			return err
		}
		return ix.move(tx, k, absent{}, r.item())
	})
}

func (c *catalogue) takeID() uint32 {
	c.nextID++
	return c.nextID - 1
}

// saveTable writes a table into the catalogue and makes next the catalogue of this transaction.
func (tx *Tx) saveTable(next *catalogue, t *table) error {
	encoded, err := json.Marshal(t.row())
	if err != nil {
		return err
	}
	tables, err := tx.bucket(bucketTables)
	if err != nil {
		return err
	}
	meta, err := tx.bucket(bucketMeta)
	if err != nil {
		return err
	}
	key := binary.BigEndian.AppendUint32(nil, t.id)
	if err := tx.batch.set(tables, key, encoded, tables.Get(key)); err != nil {
		return err
	}
	id := binary.BigEndian.AppendUint32(nil, next.nextID)
	if err := tx.batch.set(meta, metaNextID, id, meta.Get(metaNextID)); err != nil {
		return err
	}
	next.add(t)
	tx.cat = next
	return nil
}

func (tx *Tx) createBucket(name []byte) error {
	if _, err := tx.btx.CreateBucket(name); err != nil {
		return err
	}
	tx.batch.note(undoEntry{again: func() error { return tx.btx.DeleteBucket(name) }}, 0)
	return nil
}

// emptyBucket takes out all that is in the bucket of a dropped index. The bucket itself, a few bytes, stays: to undo
// its deletion would be to make it again under the feet of those who hold it.
func (tx *Tx) emptyBucket(name []byte) error {
	bucket, err := tx.bucket(name)
	if err != nil {
		return err
	}
	var keys, values [][]byte
	err = bucket.ForEach(func(k, v []byte) error {
		keys, values = append(keys, k), append(values, v)
		return nil
	})
	for i, k := range keys {
		if err == nil {
			err = tx.batch.remove(bucket, k, values[i])
		}
	}
	return err
}

// check refuses a spec that cannot be a table.
func (t TableSpec) check() error {
	if t.Name == "" {
		return invalid("a table needs a name")
	}
	if err := t.Key.check(); err != nil {
		return invalid("table %s: %s", t.Name, err)
	}
	seen := map[string]bool{}
	for _, ix := range t.Indexes {
		if ix.Name == "" || seen[ix.Name] {
			return invalid("table %s: each index needs a name of its own", t.Name)
		}
		seen[ix.Name] = true
		if err := ix.Key.check(); err != nil {
			return invalid("table %s, index %s: %s", t.Name, ix.Name, err)
		}
	}
	return nil
}

func (k KeySpec) check() error {
	if k.Partition.Name == "" || k.Partition.Name == k.Sort.Name {
		return invalid("a key needs a partition attribute, and another one to sort by")
	}
	for _, a := range k.attrs() {
		if a.Type.kind() == 0 {
			return invalid("key attribute %s needs one of the types S, N and B", a.Name)
		}
	}
	return nil
}
