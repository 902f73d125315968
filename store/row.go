package store

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// row is an item as it lies in the bucket of its table: a byte of version, a checksum, the sequence of the journal record
// that wrote it, the item's size as DynamoDB counts it (pages of a Query end by that), and the encoded item. nil is no
// item.
//
// The checksum is CRC-32C over the key and all that follows the checksum. It is compared when the item is read and intact
// does not know the row yet, and by the pass of scrub.
type row []byte

// The versions differ in three bits, so that no single flipped bit makes one of the other.
const (
	rowVersion = 5
	rowPlain   = 2 // without a checksum, from files of format 2

	rowSum    = 1
	rowSeq    = rowSum + 4
	rowSize   = rowSeq + 8
	rowHeader = rowSize + 4

	plainShift = rowSeq - rowSum // how much earlier all else lies in a row without a checksum
)

// castagnoli is CRC-32C, which processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newRow makes a row of an item of that size, probably about as long as the one it replaces; the journal seals it.
func newRow(it attr.Item, size int, old row) row {
	r := make([]byte, rowHeader, max(512, len(old)+64))
	r[0] = rowVersion
	binary.BigEndian.PutUint32(r[rowSize:], uint32(size))
	return attr.Encode(r, it)
}

// seal sets the sequence, and the checksum of the row under its key.
func (r row) seal(key []byte, seq uint64) {
	binary.BigEndian.PutUint64(r[rowSeq:], seq)
	binary.BigEndian.PutUint32(r[rowSum:], r.sum(key))
}

func (r row) sum(key []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, r[rowSeq:])
}

// sealed is a copy of a row from before there were checksums, with one.
func (r row) sealed(key []byte) row {
	out := append(make(row, rowSeq, len(r)+plainShift), r[rowSum:]...)
	out[0] = rowVersion
	out.seal(key, r.seq())
	return out
}

// known reports an error for a row that cannot be read at all. What is in it may be wrong.
func (r row) known() error {
	switch {
	case len(r) >= rowHeader && r[0] == rowVersion, len(r) >= rowHeader-plainShift && r[0] == rowPlain:
		return nil
	}
	return damaged(nil, "a row has no known version")
}

// check reports an error for a row that is not what was written under the key.
func (r row) check(key []byte) error {
	if err := r.known(); err != nil || r.plain() {
		return err
	}
	if r.sum(key) != binary.BigEndian.Uint32(r[rowSum:]) {
		return damaged(nil, "a row does not match its checksum")
	}
	return nil
}

func (r row) plain() bool { return r[0] == rowPlain }

// at is where in the row something lies, of which the place in a row with a checksum is given.
func (r row) at(place int) int {
	if r.plain() {
		return place - plainShift
	}
	return place
}

// seq is the record that wrote the row.
func (r row) seq() uint64 { return binary.BigEndian.Uint64(r[r.at(rowSeq):]) }

// size is the size of the item as attr.Size counts it.
func (r row) size() int { return int(binary.BigEndian.Uint32(r[r.at(rowSize):])) }

// bytes is size, 0 of no row.
func (r row) bytes() int {
	if r == nil {
		return 0
	}
	return r.size()
}

func (r row) item() attr.Encoded { return attr.Encoded(r[r.at(rowHeader):]) }

// rowOf returns a value of the table's bucket as a row. One that is not what was written is refused, and counted.
func (tx *Tx) rowOf(t *table, key, value []byte) (row, error) {
	r := row(value)
	if err := tx.s.intact.check(r, key); err != nil {
		tx.s.scrub.refused.Add(1)
		return nil, fault.Wrap(err, fault.Damaged, "row_damaged",
			"an item of table %s was refused: it is not what was written to disk", t.spec.Name)
	}
	return r, nil
}

// decode returns the item, nil for no row.
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
