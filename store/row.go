package store

import (
	"encoding/binary"

	"github.com/touchline/touchline/store/attr"
)

// row is an item as it lies in the bucket of its table: a byte of version and flags, the sequence of the journal record
// that wrote it, the item's size as DynamoDB counts it (pages of a Query end by that), and the encoded item. nil is no
// item.
//
// The flags have room for what else belongs to an item but not to its readers.
type row []byte

const (
	rowVersion = 2
	rowSeq     = 1
	rowSize    = rowSeq + 8
	rowHeader  = rowSize + 4
)

// newRow makes a row of an item of that size, probably about as long as the one it replaces; the journal sets its
// sequence.
func newRow(it attr.Item, size int, old row) row {
	r := make([]byte, rowHeader, max(512, len(old)+64))
	r[0] = rowVersion
	binary.BigEndian.PutUint32(r[rowSize:], uint32(size))
	return attr.Encode(r, it)
}

func (r row) setSeq(seq uint64) { binary.BigEndian.PutUint64(r[rowSeq:], seq) }

func (r row) check() error {
	if len(r) < rowHeader || r[0] != rowVersion {
		return damaged(nil, "a row has no known version")
	}
	return nil
}

// seq is the record that wrote the row.
func (r row) seq() uint64 { return binary.BigEndian.Uint64(r[rowSeq:]) }

// size is the size of the item as attr.Size counts it.
func (r row) size() int { return int(binary.BigEndian.Uint32(r[rowSize:])) }

// bytes is size, 0 of no row.
func (r row) bytes() int {
	if r == nil {
		return 0
	}
	return r.size()
}

func (r row) item() attr.Encoded { return attr.Encoded(r[rowHeader:]) }

// decode gives the item, nil for no row.
func (r row) decode() (attr.Item, error) {
	if r == nil {
		return nil, nil
	}
	return decodeItem(r.item())
}

// doc is the row as conditions see it: an absent item has no attributes.
func (r row) doc() doc {
	if r == nil {
		return absent{}
	}
	return r.item()
}

// doc is what keys, conditions and filters need of an item.
type doc interface {
	Get(name string) (attr.Value, bool, error)
}

type absent struct{}

func (absent) Get(string) (attr.Value, bool, error) { return attr.Value{}, false, nil }

// itemDoc is a decoded item as a doc.
type itemDoc attr.Item

// Get implements doc.
func (d itemDoc) Get(name string) (attr.Value, bool, error) {
	v, ok := d[name]
	return v, ok, nil
}
