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

// NextFill returns the first index that is not filled.
func (t *Table) NextFill() *Index {
	for _, ix := range t.Indexes {
		if ix.Fill != nil {
			return ix
		}
	}
	return nil
}

// Tables holds the tables by name. It and its tables are never changed: who changes a table makes new ones, which the
// store takes over when the transaction that wrote them has been committed.
type Tables struct {
	ByName map[string]*Table
	Names  []string          // of tables, ascending; another slice whenever it changes
	ByID   map[uint32]*Table // the dropped ones too, as long as the journal names them
	NextID uint32            // for tables and indexes; an id is never used again

	Streaming []*Table // those of ByID that have a stream, or had one, by name and id; another slice whenever it changes
}

// Table is a TableSpec made ready for use.
type Table struct {
	ID      uint32
	UUID    string // the id that DescribeTable shows; tables of older files have none
	Created int64  // nanoseconds since 1970; 0: not known
	Spec    TableSpec
	Key     KeyAttrs
	Sends   bool // as spec says
	Bucket  []byte
	Indexes []*Index // as in spec.Indexes

	Settings TableSettings
	Streams  []Stream // from the oldest on; forgotten some time after they have ended

	Dropped bool       // nobody sees it; the row is there for the journal's readers
	Through uint64     // last sequence when it was dropped: later records do not name it
	Leaving []Leftover // buckets that nobody reads any more, not emptied yet
}

// Index is an IndexSpec made ready for use.
type Index struct {
	ID     uint32
	Spec   IndexSpec
	Key    KeyAttrs
	Bucket []byte
	Fill   *Filling // nil: every item has its entry
	Added  bool     // by UpdateTable: Define leaves it alone
}

// Filling is how far an index on a table with items has come. Items up to the key have their entries; of those behind
// it, some have.
type Filling struct {
	UpTo  []byte // primary key; nil: none yet
	Items uint64 // looked at
}

// Leftover is a bucket that is being emptied.
type Leftover struct {
	Kind byte // of BucketName
	ID   uint32
	Name string // of the index; empty: the items of the table
}

// Bucket is the name of the bucket.
func (l Leftover) Bucket() []byte { return format.BucketName(l.Kind, l.ID) }

// NewTable makes a spec ready for use.
func NewTable(id uint32, spec TableSpec) *Table {
	return &Table{ID: id, Spec: spec, Key: newKeyAttrs(&spec.Key), Bucket: format.BucketName(format.KindTable, id)}
}

// NewIndex makes a spec ready for use.
func NewIndex(id uint32, spec IndexSpec) *Index {
	return &Index{ID: id, Spec: spec, Key: newKeyAttrs(&spec.Key), Bucket: format.BucketName(format.KindIndex, id)}
}

// Index returns an index to be read.
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

// Find returns an index, filled or not, nil if there is none of the name.
func (t *Table) Find(name string) *Index {
	for _, ix := range t.Indexes {
		if ix.Spec.Name == name {
			return ix
		}
	}
	return nil
}

// Clone is a table to be changed.
func (t *Table) Clone() *Table {
	c := *t
	c.Indexes = slices.Clone(t.Indexes)
	c.Leaving = slices.Clone(t.Leaving)
	c.Spec = CloneSpec(t.Spec)
	c.Settings = t.Settings.Clone()
	c.Streams = slices.Clone(t.Streams)
	return &c
}

// SetIndexes replaces the indexes, in the table and in its spec.
func (t *Table) SetIndexes(indexes []*Index) {
	t.Indexes, t.Spec.Indexes = indexes, nil
	for _, ix := range indexes {
		t.Spec.Indexes = append(t.Spec.Indexes, ix.Spec)
	}
}

// Clone is a catalogue to be changed.
func (c *Tables) Clone() *Tables {
	return &Tables{
		ByName: maps.Clone(c.ByName), Names: c.Names, ByID: maps.Clone(c.ByID), NextID: c.NextID, Streaming: c.Streaming,
	}
}

// Add puts a table, or another state of it, into the catalogue.
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

// SetStreaming puts a table among those with streams, or takes it out.
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

// IDs lists the tables, dropped ones too, in the order in which they were made.
func (c *Tables) IDs() []uint32 { return slices.Sorted(maps.Keys(c.ByID)) }

// Specs lists the tables by name.
func (c *Tables) Specs() []TableSpec {
	out := make([]TableSpec, 0, len(c.ByName))
	for _, name := range c.Names {
		out = append(out, CloneSpec(c.ByName[name].Spec))
	}
	return out
}

// CloneSpec copies a spec with its lists.
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

// Forgettable reports whether nothing but a row is left of a table, given the first sequence that the journal shows.
func (t *Table) Forgettable(first uint64, now time.Time) bool {
	return t.Dropped && len(t.Leaving) == 0 && first > t.Through && len(t.ShownStreams(now)) == 0
}

// NoTable is the fault of a table that is not there.
func NoTable(name string) error {
	return fault.New(fault.NotFound, "table_not_found", "Requested resource not found: Table: %s not found", name)
}

// ByUUID finds a table by the id that is shown, dropped or not.
func (c *Tables) ByUUID(id string) *Table {
	for _, t := range c.ByID {
		if t.UUID == id && id != "" {
			return t
		}
	}
	return nil
}
