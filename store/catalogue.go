package store

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// catalogue holds the tables by name. It is never changed: Define makes a new one, which the store takes over when
// the transaction that wrote it has been committed.
type catalogue struct {
	tables map[string]*table
	byID   map[uint32]*table
	nextID uint32 // for tables and indexes; an id is never used again
}

// table is a TableSpec made ready for use.
type table struct {
	id      uint32
	spec    TableSpec
	bucket  []byte
	indexes []*index // as in spec.Indexes
}

type index struct {
	id     uint32
	spec   IndexSpec
	bucket []byte
}

func newTable(id uint32, spec TableSpec) *table {
	return &table{id: id, spec: spec, bucket: bucketName('t', id)}
}

func newIndex(id uint32, spec IndexSpec) *index {
	return &index{id: id, spec: spec, bucket: bucketName('i', id)}
}

// bucketName is short and made of an id, so that a table that is dropped and made again starts in a new bucket.
func bucketName(kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, id)
}

func (t *table) index(name string) (*index, error) {
	for _, ix := range t.indexes {
		if ix.spec.Name == name {
			return ix, nil
		}
	}
	return nil, invalid("The table does not have the specified index: %s", name)
}

func (c *catalogue) clone() *catalogue {
	return &catalogue{tables: maps.Clone(c.tables), byID: maps.Clone(c.byID), nextID: c.nextID}
}

func (c *catalogue) add(t *table) {
	c.tables[t.spec.Name] = t
	c.byID[t.id] = t
}

// specs lists the tables by name.
func (c *catalogue) specs() []TableSpec {
	out := make([]TableSpec, 0, len(c.tables))
	for _, t := range c.tables {
		out = append(out, cloneSpec(t.spec))
	}
	slices.SortFunc(out, func(a, b TableSpec) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func cloneSpec(s TableSpec) TableSpec {
	s.Indexes = slices.Clone(s.Indexes)
	for i := range s.Indexes {
		s.Indexes[i].Include = slices.Clone(s.Indexes[i].Include)
	}
	return s
}

// tableRow and indexRow are the catalogue as it lies in the file: JSON, so that fields can be added.
type tableRow struct {
	ID      uint32     `json:"id"`
	Name    string     `json:"name"`
	Key     [4]string  `json:"key"` // partition, type, sort, type
	Indexes []indexRow `json:"indexes,omitempty"`
	TTL     string     `json:"ttl,omitempty"`
	Policy  Policy     `json:"policy,omitempty"`
	Why     string     `json:"why,omitempty"`
}

type indexRow struct {
	ID         uint32    `json:"id"`
	Name       string    `json:"name"`
	Key        [4]string `json:"key"`
	Projection uint8     `json:"projection"`
	Include    []string  `json:"include,omitempty"`
}

func (t *table) row() tableRow {
	r := tableRow{ID: t.id, Name: t.spec.Name, Key: keyRow(t.spec.Key), TTL: t.spec.TTL, Policy: t.spec.Policy, Why: t.spec.Why}
	for _, ix := range t.indexes {
		r.Indexes = append(r.Indexes, indexRow{
			ID: ix.id, Name: ix.spec.Name, Key: keyRow(ix.spec.Key),
			Projection: uint8(ix.spec.Projection), Include: ix.spec.Include,
		})
	}
	return r
}

func (r tableRow) table() *table {
	t := newTable(r.ID, TableSpec{Name: r.Name, Key: rowKey(r.Key), TTL: r.TTL, Policy: r.Policy, Why: r.Why})
	for _, ir := range r.Indexes {
		ix := newIndex(ir.ID, IndexSpec{
			Name: ir.Name, Key: rowKey(ir.Key), Projection: Projection(ir.Projection), Include: ir.Include,
		})
		t.indexes = append(t.indexes, ix)
		t.spec.Indexes = append(t.spec.Indexes, ix.spec)
	}
	return t
}

func keyRow(k KeySpec) [4]string {
	row := [4]string{k.Partition.Name, string(k.Partition.Type)}
	if k.Sort.Name != "" {
		row[2], row[3] = k.Sort.Name, string(k.Sort.Type)
	}
	return row
}

func rowKey(r [4]string) KeySpec {
	return KeySpec{Partition: rowAttr(r[0], r[1]), Sort: rowAttr(r[2], r[3])}
}

func rowAttr(name, kind string) KeyAttr {
	if len(kind) != 1 {
		return KeyAttr{Name: name}
	}
	return KeyAttr{Name: name, Type: KeyType(kind[0])}
}

// loadCatalogue reads the tables from the file.
func loadCatalogue(btx *bolt.Tx) (*catalogue, error) {
	c := &catalogue{tables: map[string]*table{}, byID: map[uint32]*table{}}
	err := btx.Bucket(bucketTables).ForEach(func(k, v []byte) error {
		var row tableRow
		if err := json.Unmarshal(v, &row); err != nil {
			return damaged(err, "table row %x of the catalogue cannot be read", k)
		}
		t := row.table()
		c.add(t)
		c.nextID = max(c.nextID, t.id+1)
		for _, ix := range t.indexes {
			c.nextID = max(c.nextID, ix.id+1)
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
