package main

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// change is a put as bytes, as the store would write it, prepared before the measurement.
type change struct {
	n     int
	txn   uint64 // number of changes before it in its transaction
	key   []byte
	row   []byte
	entry []byte // key of its index entries
	split []byte // value of its index entries
}

// Offsets of the fields before the item in a row, as in the store.
const (
	rowVersion    = 5
	rowSum        = 1
	rowSeq        = rowSum + 4
	rowSize       = rowSeq + 8
	rowHeader     = rowSize + 4
	recordVersion = 6
	opPut         = 1
	hasPrev       = 1 << 1
	hasOld        = 1 << 2
	hasNow        = 1 << 3
)

func newChange(n int, it attr.Item) (change, error) {
	key, err := encodeKey(it, "match", "ball")
	if err != nil {
		return change{}, err
	}
	index, err := encodeKey(it, "bowler", "rank")
	if err != nil {
		return change{}, err
	}
	row := make([]byte, rowHeader, 1200)
	row[0] = rowVersion
	binary.BigEndian.PutUint32(row[rowSize:], uint32(attr.Size(it)))
	return change{
		n: n, key: key, row: attr.Encode(row, it),
		entry: append(index, key...), split: binary.AppendUvarint(nil, uint64(len(index))),
	}, nil
}

func encodeKey(it attr.Item, names ...string) (dst []byte, err error) {
	for _, name := range names {
		if dst, err = attr.AppendKey(dst, it[name]); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// castagnoli is the polynomial of the checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealed returns the row with its sequence and checksum.
func (c *change) sealed(seq uint64) []byte {
	binary.BigEndian.PutUint64(c.row[rowSeq:], seq)
	sum := crc32.Update(crc32.Update(0, castagnoli, c.key), castagnoli, c.row[rowSeq:])
	binary.BigEndian.PutUint32(c.row[rowSum:], sum)
	return c.row
}

// record returns the journal record of the change.
func (c *change) record(at time.Time, prev uint64, old []byte) []byte {
	flags := byte(hasNow)
	if prev != 0 {
		flags |= hasPrev
	}
	if old != nil {
		flags |= hasOld
	}
	b := make([]byte, 0, 64+crc32.Size+len(c.key)+len(old)+len(c.row))
	b = append(b, recordVersion, opPut, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(at.UnixNano()))
	b = binary.AppendUvarint(b, c.txn)
	b = binary.AppendUvarint(b, rawTableID)
	b = append(binary.AppendUvarint(b, uint64(len(c.key))), c.key...)
	b = append(b, 0) // origin: the node itself
	if prev != 0 {
		b = binary.AppendUvarint(b, prev)
	}
	if old != nil {
		b = append(binary.AppendUvarint(b, uint64(len(old))), old...)
	}
	b = append(b, c.row[rowHeader:]...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}
