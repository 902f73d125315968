package catalogue

import (
	"time"
)

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
