package catalogue

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/refusal"
)

// TableChange is a change that UpdateTable makes to a table.
type TableChange struct {
	Table       string
	AddIndexes  []IndexSpec // must be global
	DropIndexes []string
	TTL         *string // the attribute; empty: items live until deleted; nil: no change

	// Settings changes the table's settings. It runs under the writer, so it sees the results of earlier changes, without the settings of
	// dropped indexes. If it returns an error, nothing is changed. nil: no change.
	Settings func(*TableSettings) error
}

// NewSettings returns the settings after the change.
func (c TableChange) NewSettings(t *Table) (TableSettings, error) {
	s := t.Settings.Clone()
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
	return s, s.Stream.Check()
}

// NewSpec returns the spec after the change.
func (c TableChange) NewSpec(spec TableSpec) (TableSpec, error) {
	spec = CloneSpec(spec)
	for _, name := range c.DropIndexes {
		if slices.ContainsFunc(c.AddIndexes, func(ix IndexSpec) bool { return ix.Name == name }) {
			return spec, refusal.Invalid("One or more parameter values were invalid: "+
				"Only one global secondary index update per index is allowed simultaneously. Index: %s", name)
		}
		i := slices.IndexFunc(spec.Indexes, func(ix IndexSpec) bool { return ix.Name == name })
		if i < 0 {
			return spec, fault.New(fault.NotFound, "index_not_found", "Requested resource not found")
		}
		if spec.Indexes[i].Local {
			return spec, refusal.Invalid("Cannot delete an index that is not a GlobalSecondaryIndex: %s", name)
		}
		spec.Indexes = slices.Delete(spec.Indexes, i, i+1)
	}
	for _, ix := range c.AddIndexes {
		if ix.Local {
			return spec, refusal.Invalid("One or more parameter values were invalid: "+
				"a LocalSecondaryIndex can only be created with its table. Index: %s", ix.Name)
		}
		if slices.ContainsFunc(spec.Indexes, func(have IndexSpec) bool { return have.Name == ix.Name }) {
			return spec, refusal.Invalid("Attempting to create an index which already exists")
		}
		spec.Indexes = append(spec.Indexes, ix)
	}
	if c.TTL != nil {
		spec.TTL = *c.TTL
	}
	return CloneSpec(spec), spec.Check()
}

// MayBecome refuses a spec that the table cannot be changed to.
func (t TableSpec) MayBecome(spec TableSpec) error {
	if t.Key != spec.Key {
		return fault.New(fault.Conflict, "table_differs", "table %s exists with a different key", t.Name)
	}
	for _, ix := range spec.Indexes {
		old := t.IndexSpec(ix.Name)
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
		if old.Local && spec.IndexSpec(old.Name) == nil {
			return fault.New(fault.Conflict, "table_differs",
				"local index %s of table %s cannot be dropped", old.Name, t.Name)
		}
	}
	return nil
}

// IndexSpec returns the index with the given name, or nil.
func (t TableSpec) IndexSpec(name string) *IndexSpec {
	for i := range t.Indexes {
		if t.Indexes[i].Name == name {
			return &t.Indexes[i]
		}
	}
	return nil
}

// SameSpec reports whether two specs are equal, ignoring the order of their indexes.
func SameSpec(a, b TableSpec) bool {
	same := a.Name == b.Name && a.Key == b.Key && a.TTL == b.TTL && a.Policy == b.Policy && a.Why == b.Why &&
		a.Internal == b.Internal && a.Lock == b.Lock
	if !same || len(a.Indexes) != len(b.Indexes) {
		return false
	}
	for _, ix := range a.Indexes {
		if other := b.IndexSpec(ix.Name); other == nil || !sameIndex(ix, *other) {
			return false
		}
	}
	return true
}

func sameIndex(a, b IndexSpec) bool {
	return a.Name == b.Name && a.Local == b.Local && a.Key == b.Key && a.Projection == b.Projection &&
		slices.Equal(slices.Sorted(slices.Values(a.Include)), slices.Sorted(slices.Values(b.Include)))
}

// TakeID returns an id that no table or index has had.
func (c *Tables) TakeID() uint32 {
	c.NextID++
	return c.NextID - 1
}

// NewUUID returns a random UUID, version 4.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
