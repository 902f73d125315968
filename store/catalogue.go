package store

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// catalogue holds the tables by name. It and its tables are never changed: who changes a table makes new ones, which the
// store takes over when the transaction that wrote them has been committed.
type catalogue struct {
	tables map[string]*table
	names  []string          // of tables, ascending; another slice whenever it changes
	byID   map[uint32]*table // the dropped ones too, as long as the journal names them
	nextID uint32            // for tables and indexes; an id is never used again

	streaming []*table // those of byID that have a stream, or had one, by name and id; another slice whenever it changes
}

// table is a TableSpec made ready for use.
type table struct {
	id      uint32
	uuid    string // the id that DescribeTable shows; tables of older files have none
	created int64  // nanoseconds since 1970; 0: not known
	spec    TableSpec
	key     keyAttrs
	sends   bool // as spec says
	bucket  []byte
	indexes []*index // as in spec.Indexes

	settings TableSettings
	streams  []Stream // from the oldest on; forgotten some time after they have ended

	dropped bool       // nobody sees it; the row is there for the journal's readers
	through uint64     // last sequence when it was dropped: later records do not name it
	leaving []leftover // buckets that nobody reads any more, not emptied yet
}

type index struct {
	id     uint32
	spec   IndexSpec
	key    keyAttrs
	bucket []byte
	fill   *filling // nil: every item has its entry
	added  bool     // by UpdateTable: Define leaves it alone
}

// filling is how far an index on a table with items has come. Items up to the key have their entries; of those behind
// it, some have.
type filling struct {
	upTo  []byte // primary key; nil: none yet
	items uint64 // looked at
}

// leftover is a bucket that is being emptied.
type leftover struct {
	kind byte // of bucketName
	id   uint32
	name string // of the index; empty: the items of the table
}

func (l leftover) bucket() []byte { return bucketName(l.kind, l.id) }

func newTable(id uint32, spec TableSpec) *table {
	return &table{id: id, spec: spec, key: newKeyAttrs(&spec.Key), bucket: bucketName(kindTable, id)}
}

func newIndex(id uint32, spec IndexSpec) *index {
	return &index{id: id, spec: spec, key: newKeyAttrs(&spec.Key), bucket: bucketName(kindIndex, id)}
}

// The kinds of bucketName.
const (
	kindTable = 't'
	kindIndex = 'i'

	bucketNameSize = 5
)

// bucketName is short and made of an id, so that a table that is dropped and made again starts in a new bucket.
func bucketName(kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, id)
}

// index returns an index to be read.
func (t *table) index(name string) (*index, error) {
	ix := t.find(name)
	switch {
	case ix == nil:
		return nil, invalid("The table does not have the specified index: %s", name)
	case ix.fill != nil:
		return nil, invalid("Cannot read from backfilling global secondary index: %s", name)
	}
	return ix, nil
}

// find returns an index, filled or not, nil if there is none of the name.
func (t *table) find(name string) *index {
	for _, ix := range t.indexes {
		if ix.spec.Name == name {
			return ix
		}
	}
	return nil
}

// clone is a table to be changed.
func (t *table) clone() *table {
	c := *t
	c.indexes = slices.Clone(t.indexes)
	c.leaving = slices.Clone(t.leaving)
	c.spec = cloneSpec(t.spec)
	c.settings = t.settings.clone()
	c.streams = slices.Clone(t.streams)
	return &c
}

// setIndexes replaces the indexes, in the table and in its spec.
func (t *table) setIndexes(indexes []*index) {
	t.indexes, t.spec.Indexes = indexes, nil
	for _, ix := range indexes {
		t.spec.Indexes = append(t.spec.Indexes, ix.spec)
	}
}

func (c *catalogue) clone() *catalogue {
	return &catalogue{
		tables: maps.Clone(c.tables), names: c.names, byID: maps.Clone(c.byID), nextID: c.nextID, streaming: c.streaming,
	}
}

// add puts a table, or another state of it, into the catalogue.
func (c *catalogue) add(t *table) {
	t.sends = t.spec.Sends()
	c.byID[t.id] = t
	c.setStreaming(t, len(t.streams) > 0)
	at, known := slices.BinarySearch(c.names, t.spec.Name)
	if !t.dropped {
		c.tables[t.spec.Name] = t
		if !known {
			c.names = slices.Concat(c.names[:at], []string{t.spec.Name}, c.names[at:])
		}
	} else if have := c.tables[t.spec.Name]; have != nil && have.id == t.id {
		delete(c.tables, t.spec.Name)
		c.names = slices.Concat(c.names[:at], c.names[at+1:])
	}
}

// setStreaming puts a table among those with streams, or takes it out.
func (c *catalogue) setStreaming(t *table, has bool) {
	at, found := slices.BinarySearchFunc(c.streaming, t, func(a, b *table) int {
		return cmp.Or(cmp.Compare(a.spec.Name, b.spec.Name), cmp.Compare(a.id, b.id))
	})
	switch {
	case has && found:
		c.streaming = slices.Clone(c.streaming)
		c.streaming[at] = t
	case has:
		c.streaming = slices.Concat(c.streaming[:at], []*table{t}, c.streaming[at:])
	case found:
		c.streaming = slices.Concat(c.streaming[:at], c.streaming[at+1:])
	}
}

// ids lists the tables, dropped ones too, in the order in which they were made.
func (c *catalogue) ids() []uint32 { return slices.Sorted(maps.Keys(c.byID)) }

// specs lists the tables by name.
func (c *catalogue) specs() []TableSpec {
	out := make([]TableSpec, 0, len(c.tables))
	for _, name := range c.names {
		out = append(out, cloneSpec(c.tables[name].spec))
	}
	return out
}

func cloneSpec(s TableSpec) TableSpec {
	s.Indexes = slices.Clone(s.Indexes)
	for i := range s.Indexes {
		s.Indexes[i].Include = slices.Clone(s.Indexes[i].Include)
	}
	return s
}

// loadCatalogue reads the tables from the file.
func loadCatalogue(btx *bolt.Tx) (*catalogue, error) {
	c := &catalogue{tables: map[string]*table{}, byID: map[uint32]*table{}}
	err := btx.Bucket(bucketTables).ForEach(func(_, v []byte) error {
		t, err := decodeTable(v)
		if err != nil {
			return err
		}
		c.add(t)
		c.nextID = max(c.nextID, t.id+1)
		for _, ix := range t.indexes {
			c.nextID = max(c.nextID, ix.id+1)
		}
		for _, l := range t.leaving {
			c.nextID = max(c.nextID, l.id+1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if v := btx.Bucket(bucketMeta).Get(metaNextID); len(v) == 4 {
		c.nextID = max(c.nextID, binary.BigEndian.Uint32(v))
	}
	return c, nil
}

// saveTable writes a table into the catalogue and makes next, with it, the catalogue of this transaction.
func (tx *Tx) saveTable(next *catalogue, t *table) error {
	encoded, err := t.encode()
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
	key := tableKey(t.id)
	if err := tx.batch.set(tables, key, encoded, tables.Get(key)); err != nil {
		return err
	}
	if id := binary.BigEndian.AppendUint32(nil, next.nextID); next.nextID != tx.cat.nextID {
		if err := tx.batch.set(meta, metaNextID, id, meta.Get(metaNextID)); err != nil {
			return err
		}
	}
	next.add(t)
	tx.cat = next
	return nil
}

// forgetTable takes the row of a dropped table out of the catalogue.
func (tx *Tx) forgetTable(t *table) error {
	tables, err := tx.bucket(bucketTables)
	if err != nil {
		return err
	}
	key := tableKey(t.id)
	if err := tx.batch.remove(tables, key, tables.Get(key)); err != nil {
		return err
	}
	next := tx.cat.clone()
	delete(next.byID, t.id)
	next.setStreaming(t, false)
	tx.cat = next
	return nil
}

// tableOf returns the table that a journal record is about, dropped or not. A snapshot may be one commit ahead of its
// catalogue, and tells then of a table that only the file knows.
func (tx *Tx) tableOf(id uint32) (*table, error) {
	if t := tx.cat.byID[id]; t != nil {
		return t, nil
	}
	tables, err := tx.bucket(bucketTables)
	if err != nil {
		return nil, err
	}
	if encoded := tables.Get(tableKey(id)); encoded != nil {
		return decodeTable(encoded)
	}
	return nil, damaged(nil, "the journal names an unknown table, %d", id)
}

func (tx *Tx) createBucket(name []byte) error {
	if _, err := tx.btx.CreateBucket(name); err != nil {
		return err
	}
	tx.batch.grows = true
	tx.batch.note(undoEntry{again: func() error { return tx.btx.DeleteBucket(name) }}, 0)
	return nil
}

// deleteBucket deletes an empty bucket, in a transaction that has not touched it: undo makes a new one.
func (tx *Tx) deleteBucket(name []byte) error {
	if err := tx.btx.DeleteBucket(name); err != nil {
		return err
	}
	tx.batch.note(undoEntry{again: func() error {
		_, err := tx.btx.CreateBucket(name)
		return err
	}}, 0)
	return nil
}
