package catalogue

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// NextFill returns the first index that is still being filled, or nil.
func (t *Table) NextFill() *Index {
	for _, ix := range t.Indexes {
		if ix.Fill != nil {
			return ix
		}
	}
	return nil
}

// Tables is the catalogue of tables. It and its tables are immutable: a change makes new ones, which the store adopts after the
// transaction that wrote them has been committed.
type Tables struct {
	ByName map[string]*Table
	Names  []string          // of tables, ascending; a new slice at each change
	ByID   map[uint32]*Table // including dropped ones, as long as the journal or a listed stream names them
	NextID uint32            // for tables and indexes; ids are never reused

	Streaming []*Table // the tables of ByID that have or had a stream, by name and id; a new slice at each change
}

// Table is a TableSpec prepared for use.
type Table struct {
	ID      uint32
	UUID    string // the id in DescribeTable; empty for tables of older files
	Created int64  // nanoseconds since 1970; 0: unknown
	Spec    TableSpec
	Key     Key
	Sends   bool // Spec.Sends()
	Bucket  []byte
	Indexes []*Index // in the order of Spec.Indexes

	Settings TableSettings
	Streams  []Stream // oldest first; forgotten some time after they have ended

	Dropped bool       // invisible; the row remains for readers of the journal
	Through uint64     // last sequence when the table was dropped: later records do not name it
	Leaving []Leftover // buckets no longer in use that are not empty yet
}

// Index is an IndexSpec prepared for use.
type Index struct {
	ID     uint32
	Spec   IndexSpec
	Key    Key
	Bucket []byte
	Fill   *Filling // nil: every item has its entry
	Added  bool     // by UpdateTable: Define does not drop it
}

// Filling is the progress of filling an index. Items up to UpTo have their entries; later ones may have them.
type Filling struct {
	UpTo  []byte `json:"upTo,omitempty"`  // primary key; nil: not started
	Items uint64 `json:"items,omitempty"` // items processed
}

// Leftover is a bucket that is being emptied.
type Leftover struct {
	Kind string `json:"kind"` // of BucketName, one letter
	ID   uint32 `json:"id"`
	Name string `json:"name,omitempty"` // of the index; empty: the items of the table
}

// Bucket returns the name of the bucket.
func (l Leftover) Bucket() []byte { return format.BucketName(l.Kind[0], l.ID) }

// NewTable returns a Table for a spec.
func NewTable(id uint32, spec TableSpec) *Table {
	return &Table{ID: id, Spec: spec, Key: Key{spec.Key.ExprKey()}, Bucket: format.BucketName(format.KindTable, id)}
}

// NewIndex returns an Index for a spec.
func NewIndex(id uint32, spec IndexSpec) *Index {
	return &Index{ID: id, Spec: spec, Key: Key{spec.Key.ExprKey()}, Bucket: format.BucketName(format.KindIndex, id)}
}

// Index returns the index with the given name. It refuses indexes that are still being filled.
func (t *Table) Index(name string) (*Index, error) {
	ix := t.Find(name)
	switch {
	case ix == nil:
		return nil, refusal.Invalid("The table does not have the specified index: %s", name)
	case ix.Fill != nil:
		return nil, refusal.Invalid("Cannot read from backfilling global secondary index: %s", name)
	}
	return ix, nil
}

// Find returns the index with the given name, filled or not, or nil.
func (t *Table) Find(name string) *Index {
	for _, ix := range t.Indexes {
		if ix.Spec.Name == name {
			return ix
		}
	}
	return nil
}

// Clone returns a copy of a table that may be changed.
func (t *Table) Clone() *Table {
	c := *t
	c.Indexes = slices.Clone(t.Indexes)
	c.Leaving = slices.Clone(t.Leaving)
	c.Spec = CloneSpec(t.Spec)
	c.Settings = t.Settings.Clone()
	c.Streams = slices.Clone(t.Streams)
	return &c
}

// SetIndexes replaces the indexes of the table and of its spec.
func (t *Table) SetIndexes(indexes []*Index) {
	t.Indexes, t.Spec.Indexes = indexes, nil
	for _, ix := range indexes {
		t.Spec.Indexes = append(t.Spec.Indexes, ix.Spec)
	}
}

// Clone returns a copy of the catalogue that may be changed.
func (c *Tables) Clone() *Tables {
	return &Tables{
		ByName: maps.Clone(c.ByName), Names: c.Names, ByID: maps.Clone(c.ByID), NextID: c.NextID, Streaming: c.Streaming,
	}
}

// Add adds a table to the catalogue, or replaces its previous state.
func (c *Tables) Add(t *Table) {
	t.Sends = t.Spec.Sends()
	c.ByID[t.ID] = t
	c.SetStreaming(t, len(t.Streams) > 0)
	at, known := slices.BinarySearch(c.Names, t.Spec.Name)
	if !t.Dropped {
		c.ByName[t.Spec.Name] = t
		if !known {
			c.Names = slices.Concat(c.Names[:at], []string{t.Spec.Name}, c.Names[at:])
		}
	} else if have := c.ByName[t.Spec.Name]; have != nil && have.ID == t.ID {
		delete(c.ByName, t.Spec.Name)
		c.Names = slices.Concat(c.Names[:at], c.Names[at+1:])
	}
}

// SetStreaming adds a table to those with streams, or removes it.
func (c *Tables) SetStreaming(t *Table, has bool) {
	at, found := slices.BinarySearchFunc(c.Streaming, t, func(a, b *Table) int {
		return cmp.Or(cmp.Compare(a.Spec.Name, b.Spec.Name), cmp.Compare(a.ID, b.ID))
	})
	switch {
	case has && found:
		c.Streaming = slices.Clone(c.Streaming)
		c.Streaming[at] = t
	case has:
		c.Streaming = slices.Concat(c.Streaming[:at], []*Table{t}, c.Streaming[at:])
	case found:
		c.Streaming = slices.Concat(c.Streaming[:at], c.Streaming[at+1:])
	}
}

// IDs returns the ids of all tables, including dropped ones, in the order of their creation.
func (c *Tables) IDs() []uint32 { return slices.Sorted(maps.Keys(c.ByID)) }

// Specs returns the specs of the tables, by name.
func (c *Tables) Specs() []TableSpec {
	out := make([]TableSpec, 0, len(c.ByName))
	for _, name := range c.Names {
		out = append(out, CloneSpec(c.ByName[name].Spec))
	}
	return out
}

// CloneSpec returns a copy of a spec and its lists.
func CloneSpec(s TableSpec) TableSpec {
	s.Indexes = slices.Clone(s.Indexes)
	for i := range s.Indexes {
		s.Indexes[i].Include = slices.Clone(s.Indexes[i].Include)
	}
	return s
}

// Load reads the tables from the file.
func Load(btx *bolt.Tx) (*Tables, error) {
	c := &Tables{ByName: map[string]*Table{}, ByID: map[uint32]*Table{}}
	err := btx.Bucket(format.BucketTables).ForEach(func(_, v []byte) error {
		t, err := DecodeTable(v)
		if err != nil {
			return err
		}
		c.Add(t)
		c.NextID = max(c.NextID, t.ID+1)
		for _, ix := range t.Indexes {
			c.NextID = max(c.NextID, ix.ID+1)
		}
		for _, l := range t.Leaving {
			c.NextID = max(c.NextID, l.ID+1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if v := btx.Bucket(format.BucketMeta).Get(format.MetaNextID); len(v) == 4 {
		c.NextID = max(c.NextID, binary.BigEndian.Uint32(v))
	}
	return c, nil
}

// Forgettable reports whether nothing but its row is left of a table, given the first sequence that the journal shows.
func (t *Table) Forgettable(first uint64, now time.Time) bool {
	return t.Dropped && len(t.Leaving) == 0 && first > t.Through && len(t.ShownStreams(now)) == 0
}

// NoTable returns the fault of a missing table.
func NoTable(name string) error {
	return fault.New(fault.NotFound, "table_not_found", "Requested resource not found: Table: %s not found", name)
}

// ByUUID returns the table with the given UUID, dropped or not.
func (c *Tables) ByUUID(id string) *Table {
	for _, t := range c.ByID {
		if t.UUID == id && id != "" {
			return t
		}
	}
	return nil
}
