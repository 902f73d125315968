package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/touchline/touchline/internal/fault"
)

// Define makes the tables that are not there and brings the others to what their spec says: indexes are added or
// dropped, but not those that UpdateTable has added; the TTL attribute and the policy change at once. The settings of a
// table stay as they are. It returns when new indexes are filled; if it fails before that, or ctx ends, Housekeep or the
// next Define goes on. Keys, projections and local indexes cannot change: fault.Conflict, code table_differs. Tables
// that are not named stay as they are. Defining what is there already writes nothing.
func (s *Store) Define(ctx context.Context, specs ...TableSpec) error {
	err := s.Update(ctx, func(tx *Tx) error {
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
	for _, spec := range specs {
		if err == nil {
			err = s.fillTable(ctx, spec.Name)
		}
	}
	return err
}

// CreateTable makes a table; one of the name that is there already is fault.Conflict, code table_exists.
func (s *Store) CreateTable(ctx context.Context, spec TableSpec) error {
	return s.CreateTableWith(ctx, spec, TableSettings{})
}

// CreateTableWith is CreateTable with the settings of the table.
func (s *Store) CreateTableWith(ctx context.Context, spec TableSpec, settings TableSettings) error {
	if err := errors.Join(spec.check(), settings.Stream.check()); err != nil {
		return err
	}
	return s.Update(ctx, func(tx *Tx) error {
		if tx.cat.tables[spec.Name] != nil {
			return fault.New(fault.Conflict, "table_exists", "Table already exists: %s", spec.Name)
		}
		return tx.breakOff(tx.createTable(cloneSpec(spec), settings))
	})
}

// TableChange is what UpdateTable does to a table.
type TableChange struct {
	Table       string
	AddIndexes  []IndexSpec // global ones
	DropIndexes []string
	TTL         *string // the attribute; empty: items live until deleted; nil: as it is

	// Settings changes the table's settings, under the writer: it sees what earlier changes have left, without the
	// indexes that go. Its error ends the change. nil: they stay.
	Settings func(*TableSettings) error
}

// UpdateTable adds indexes to a table and drops others. A new index on a table with many items is IndexCreating first:
// every write maintains it, reads of it are refused, and Housekeep fills it. A dropped one is gone at once.
//
// Errors are DynamoDB's: fault.NotFound for a table or an index to be dropped that is not there, fault.Invalid for an
// index that is there already and for local ones.
func (s *Store) UpdateTable(ctx context.Context, c TableChange) error {
	if len(c.AddIndexes)+len(c.DropIndexes) == 0 && c.TTL == nil && c.Settings == nil {
		return invalid("At least one of AddIndexes, DropIndexes, TTL or Settings is required")
	}
	return s.Update(ctx, func(tx *Tx) error {
		t, err := tx.table(c.Table)
		if err != nil {
			return err
		}
		spec, err := c.apply(t.spec)
		if err != nil {
			return err
		}
		settings, err := c.settings(t)
		if err != nil || sameSpec(t.spec, spec) && reflect.DeepEqual(settings.plain(), t.settings) {
			return err
		}
		return tx.breakOff(tx.changeTable(t, spec, settings, true))
	})
}

// settings returns the settings after the change.
func (c TableChange) settings(t *table) (TableSettings, error) {
	s := t.settings.clone()
	for _, name := range c.DropIndexes {
		delete(s.Indexes, name)
	}
	if c.Settings == nil {
		return s, nil
	}
	if s.Indexes == nil {
		s.Indexes = map[string]Throughput{}
	}
	if s.Tags == nil {
		s.Tags = map[string]string{}
	}
	if err := c.Settings(&s); err != nil {
		return s, err
	}
	return s, s.Stream.check()
}

// apply returns the spec after the change.
func (c TableChange) apply(spec TableSpec) (TableSpec, error) {
	spec = cloneSpec(spec)
	for _, name := range c.DropIndexes {
		if slices.ContainsFunc(c.AddIndexes, func(ix IndexSpec) bool { return ix.Name == name }) {
			return spec, invalid("One or more parameter values were invalid: "+
				"Only one global secondary index update per index is allowed simultaneously. Index: %s", name)
		}
		i := slices.IndexFunc(spec.Indexes, func(ix IndexSpec) bool { return ix.Name == name })
		if i < 0 {
			return spec, fault.New(fault.NotFound, "index_not_found", "Requested resource not found")
		}
		if spec.Indexes[i].Local {
			return spec, invalid("Cannot delete an index that is not a GlobalSecondaryIndex: %s", name)
		}
		spec.Indexes = slices.Delete(spec.Indexes, i, i+1)
	}
	for _, ix := range c.AddIndexes {
		if ix.Local {
			return spec, invalid("One or more parameter values were invalid: "+
				"a LocalSecondaryIndex is made with its table only. Index: %s", ix.Name)
		}
		if slices.ContainsFunc(spec.Indexes, func(have IndexSpec) bool { return have.Name == ix.Name }) {
			return spec, invalid("Attempting to create an index which already exists")
		}
		spec.Indexes = append(spec.Indexes, ix)
	}
	if c.TTL != nil {
		spec.TTL = *c.TTL
	}
	return cloneSpec(spec), spec.check()
}

func (tx *Tx) define(spec TableSpec) error {
	have := tx.cat.tables[spec.Name]
	if have == nil {
		return tx.breakOff(tx.createTable(spec, TableSettings{}))
	}
	for _, ix := range have.indexes {
		if ix.added && spec.indexSpec(ix.spec.Name) == nil {
			spec.Indexes = append(spec.Indexes, ix.spec)
		}
	}
	if err := errors.Join(spec.check(), have.spec.mayBecome(spec)); err != nil {
		return err
	}
	if sameSpec(have.spec, spec) {
		return nil
	}
	return tx.breakOff(tx.changeTable(have, spec, have.settings, false))
}

// mayBecome refuses a spec that a table cannot be brought to.
func (t TableSpec) mayBecome(spec TableSpec) error {
	if t.Key != spec.Key {
		return fault.New(fault.Conflict, "table_differs", "table %s exists with a different key", t.Name)
	}
	for _, ix := range spec.Indexes {
		old := t.indexSpec(ix.Name)
		switch {
		case old != nil && !sameIndex(*old, ix):
			return fault.New(fault.Conflict, "table_differs",
				"index %s of table %s exists with a different key or projection", ix.Name, t.Name)
		case old == nil && ix.Local:
			return fault.New(fault.Conflict, "table_differs",
				"local index %s cannot be added to table %s, which already exists", ix.Name, t.Name)
		}
	}
	for _, old := range t.Indexes {
		if old.Local && spec.indexSpec(old.Name) == nil {
			return fault.New(fault.Conflict, "table_differs",
				"local index %s of table %s cannot be dropped", old.Name, t.Name)
		}
	}
	return nil
}

func (t TableSpec) indexSpec(name string) *IndexSpec {
	for i := range t.Indexes {
		if t.Indexes[i].Name == name {
			return &t.Indexes[i]
		}
	}
	return nil
}

// sameSpec compares two specs; the order of the indexes says nothing.
func sameSpec(a, b TableSpec) bool {
	same := a.Name == b.Name && a.Key == b.Key && a.TTL == b.TTL && a.Policy == b.Policy && a.Why == b.Why &&
		a.Internal == b.Internal && a.Lock == b.Lock
	if !same || len(a.Indexes) != len(b.Indexes) {
		return false
	}
	for _, ix := range a.Indexes {
		if other := b.indexSpec(ix.Name); other == nil || !sameIndex(ix, *other) {
			return false
		}
	}
	return true
}

func sameIndex(a, b IndexSpec) bool {
	return a.Name == b.Name && a.Local == b.Local && a.Key == b.Key && a.Projection == b.Projection &&
		slices.Equal(slices.Sorted(slices.Values(a.Include)), slices.Sorted(slices.Values(b.Include)))
}

func (tx *Tx) createTable(spec TableSpec, settings TableSettings) error {
	next := tx.cat.clone()
	t := newTable(next.takeID(), spec)
	t.uuid, t.created = newUUID(), tx.Now().UnixNano()
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
	tx.setSettings(t, settings)
	return tx.saveTable(next, t)
}

// changeTable brings a table to a spec that it may become, and to its settings. Its new indexes are marked as added, or
// not.
func (tx *Tx) changeTable(have *table, spec TableSpec, settings TableSettings, added bool) error {
	next := tx.cat.clone()
	t := have.clone()
	t.spec = spec
	indexes := make([]*index, 0, len(spec.Indexes))
	for _, ixSpec := range spec.Indexes {
		ix := have.find(ixSpec.Name)
		if ix == nil {
			var err error
			if ix, err = tx.addIndex(t, newIndex(next.takeID(), ixSpec)); err != nil {
				return err
			}
			ix.added = added
		}
		indexes = append(indexes, ix)
	}
	t.setIndexes(indexes)
	for _, ix := range have.indexes {
		if t.find(ix.spec.Name) == nil {
			t.leaving = append(t.leaving, leftover{kind: kindIndex, id: ix.id, name: ix.spec.Name})
		}
	}
	tx.setSettings(t, settings)
	return tx.saveTable(next, t)
}

// addIndex makes the bucket of an index and fills it if the table is small.
func (tx *Tx) addIndex(t *table, ix *index) (*index, error) {
	if err := tx.createBucket(ix.bucket); err != nil {
		return nil, err
	}
	ix.fill = &filling{}
	return tx.fillSlice(t, ix)
}

func (c *catalogue) takeID() uint32 {
	c.nextID++
	return c.nextID - 1
}

// newUUID is a random one, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
