package format

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Row is an item as stored in its table's bucket: a version byte, a checksum, the sequence of the journal record that wrote it, the
// item's size as DynamoDB counts it (which limits the pages of a Query), and the encoded item. nil means no item.
//
// The checksum is CRC-32C of the key and of everything after the checksum. It is verified when the item is read and Intact does not know
// the row yet, and by Scrub.
type Row []byte

// The versions differ in three bits, so a single flipped bit cannot turn one into another.
const (
	rowVersion = 5
	RowPlain   = 2 // without a checksum, from files of format 2

	rowSum    = 1
	RowSeq    = rowSum + 4
	RowSize   = RowSeq + 8
	rowHeader = RowSize + 4

	plainShift = RowSeq - rowSum // how much earlier the other fields are in a row without a checksum
)

// castagnoli is CRC-32C, which processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum continues a CRC-32C.
func checksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// NewRow returns a row for an item of the given size, allocated for about the length of the row it replaces. Tx.Apply seals it.
func NewRow(it attr.Item, size int, old Row) Row {
	return attr.Encode(newHeader(size, max(512, len(old)+64)), it)
}

// NewEncodedRow is NewRow for an encoded item.
func NewEncodedRow(e attr.Encoded, size int) Row {
	return append(newHeader(size, rowHeader+len(e)), e...)
}

func newHeader(size, room int) Row {
	r := make(Row, rowHeader, room)
	r[0] = rowVersion
	binary.BigEndian.PutUint32(r[RowSize:], uint32(size))
	return r
}

// Seal sets the sequence and the checksum of the row under its key.
func (r Row) Seal(key []byte, seq uint64) {
	binary.BigEndian.PutUint64(r[RowSeq:], seq)
	binary.BigEndian.PutUint32(r[rowSum:], r.sum(key))
}

func (r Row) sum(key []byte) uint32 {
	return checksum(checksum(0, key), r[RowSeq:])
}

// WithChecksum returns a copy, with a checksum, of a row without one.
func (r Row) WithChecksum(key []byte) Row {
	out := append(make(Row, RowSeq, len(r)+plainShift), r[rowSum:]...)
	out[0] = rowVersion
	out.Seal(key, r.Seq())
	return out
}

// CheckVersion returns an error if the row has an unknown version or is too short. It does not verify the content.
func (r Row) CheckVersion() error {
	switch {
	case len(r) >= rowHeader && r[0] == rowVersion, len(r) >= rowHeader-plainShift && r[0] == RowPlain:
		return nil
	}
	return refusal.DamagedData(nil, "a row has an unknown version")
}

// Check returns an error if the row is not what was written under the key. A row without a checksum passes.
func (r Row) Check(key []byte) error {
	if err := r.CheckVersion(); err != nil || r.Plain() {
		return err
	}
	if r.sum(key) != binary.BigEndian.Uint32(r[rowSum:]) {
		return refusal.DamagedData(nil, "a row does not match its checksum")
	}
	return nil
}

// Plain reports whether the row has no checksum.
func (r Row) Plain() bool { return r[0] == RowPlain }

// offsetOf returns the offset of a field, given its offset in a row with a checksum.
func (r Row) offsetOf(place int) int {
	if r.Plain() {
		return place - plainShift
	}
	return place
}

// Seq returns the sequence of the record that wrote the row.
func (r Row) Seq() uint64 { return binary.BigEndian.Uint64(r[r.offsetOf(RowSeq):]) }

// Size returns the size of the item as attr.Size counts it.
func (r Row) Size() int { return int(binary.BigEndian.Uint32(r[r.offsetOf(RowSize):])) }

// Bytes is Size, or 0 for a nil row.
func (r Row) Bytes() int {
	if r == nil {
		return 0
	}
	return r.Size()
}

// Item returns the item in the row.
func (r Row) Item() attr.Encoded { return attr.Encoded(r[r.offsetOf(rowHeader):]) }

// Decode returns the item, or nil for a nil row.
func (r Row) Decode() (attr.Item, error) {
	if r == nil {
		return nil, nil
	}
	return DecodeItem(r.Item())
}

// Doc returns the row for conditions: a missing item has no attributes.
func (r Row) Doc() expr.Doc {
	if r == nil {
		return expr.Item(nil)
	}
	return r.Item()
}

// DecodeItem decodes an item of the store.
func DecodeItem(e attr.Encoded) (attr.Item, error) {
	it, err := e.Decode()
	if err != nil {
		return nil, refusal.DamagedData(err, "an item cannot be decoded")
	}
	return it, nil
}
