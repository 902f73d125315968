package catalogue

import (
	"time"
)

// IndexStatus is the state of an index, in DynamoDB's terms.
type IndexStatus string

// The states of an index.
const (
	IndexActive   IndexStatus = "ACTIVE"
	IndexCreating IndexStatus = "CREATING" // writes maintain it, reads are refused, Housekeep fills it
)

// TableDescription describes a table. It has no item counts, which would mean reading all items.
type TableDescription struct {
	Spec    TableSpec
	ID      string    // a UUID, different after the table is dropped and created again; empty: created by an early version
	Created time.Time // zero: created by an early version
	Indexes []IndexDescription

	Settings TableSettings
	Streams  []Stream // the last one is open if Settings.Stream is set; the others ended less than StreamAge ago
}

// IndexDescription is the state of an index. Indexes are in the order of TableSpec.Indexes.
type IndexDescription struct {
	Name   string
	Status IndexStatus
	Filled uint64 // items processed so far, while it is IndexCreating
}
