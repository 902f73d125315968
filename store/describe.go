package store

import "time"

// IndexStatus is the state of an index, in DynamoDB's words.
type IndexStatus string

// The states of an index.
const (
	IndexActive   IndexStatus = "ACTIVE"
	IndexCreating IndexStatus = "CREATING" // writes maintain it, reads are refused, Housekeep fills it
)

// TableDescription is what there is to tell of a table. Its items are not counted: that would be to read all of them.
type TableDescription struct {
	Spec    TableSpec
	ID      string    // a UUID, another one when the table is dropped and made again; empty: made by an early version
	Created time.Time // zero: made by an early version
	Indexes []IndexDescription

	Settings TableSettings
	Streams  []Stream // the last one goes on if Settings.Stream is set, the others ended less than StreamAge ago
}

// IndexDescription is the state of one index, in the order of TableSpec.Indexes.
type IndexDescription struct {
	Name   string
	Status IndexStatus
	Filled uint64 // items of the table looked at so far, while it is IndexCreating
}

// Describe describes a table. One that is not there is fault.NotFound.
func (s *Store) Describe(name string) (TableDescription, error) {
	t := s.cat.Load().tables[name]
	if t == nil {
		return TableDescription{}, errNoTable(name)
	}
	d := TableDescription{
		Spec: cloneSpec(t.spec), ID: t.uuid, Settings: t.settings.clone(), Streams: t.shownStreams(s.opts.Now()),
	}
	if t.created != 0 {
		d.Created = time.Unix(0, t.created).UTC()
	}
	for _, ix := range t.indexes {
		id := IndexDescription{Name: ix.spec.Name, Status: IndexActive}
		if ix.fill != nil {
			id.Status, id.Filled = IndexCreating, ix.fill.items
		}
		d.Indexes = append(d.Indexes, id)
	}
	return d, nil
}
