package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Op is what a write did.
type Op uint8

// The operations of the journal.
const (
	OpPut Op = iota + 1
	OpUpdate
	OpDelete
)

// String is the name of the operation in DynamoDB.
func (o Op) String() string {
	switch o {
	case OpPut:
		return "PutItem"
	case OpUpdate:
		return "UpdateItem"
	case OpDelete:
		return "DeleteItem"
	}
	return ""
}

// Record is one write in the journal: what was asked, and the item before and after it.
type Record struct {
	Seq     uint64 // dense within an incarnation of the node
	Txn     uint64 // Seq of the first record of the same transaction
	At      time.Time
	Table   string
	Key     attr.Item
	Op      Op
	Old     attr.Item // nil: there was none
	New     attr.Item // nil: deleted
	Origin  string    // who made the write; empty: this node's own application
	Request Request
}

// Request is the write as it was asked for. Of a Put the item is Record.New.
type Request struct {
	Update    string
	Condition string
	Params    expr.Params
}

// storedRecord is a record as it lies in the file. Each image is there once: a record holds the new image, and of the
// old one the sequence of the record that made it, or the image itself if that record had been trimmed. How trimming
// keeps that true is said at trim.
type storedRecord struct {
	op      Op
	at      int64  // nanoseconds since 1970
	txn     uint64 // distance back to the first record of the transaction
	table   uint32
	key     []byte
	origin  string
	request Request
	prev    uint64       // sequence of the record with the old image; 0: none
	old     attr.Encoded // the old image where prev is 0; nil: none
	now     attr.Encoded // the new image; nil: deleted
}

const (
	recordVersion = 6 // a CRC-32C of all before it is at its end
	recordPlain   = 1 // without a checksum, from files of format 2

	// Offsets of what is read without the rest.
	recordAt     = 3
	recordHeader = recordAt + 8

	recordSum = 4 // bytes of the checksum

	hasRequest = 1 << 0
	hasPrev    = 1 << 1
	hasOld     = 1 << 2
	hasNow     = 1 << 3
)

func (r *storedRecord) encode() []byte {
	var flags byte
	if r.request.Update != "" || r.request.Condition != "" {
		flags |= hasRequest
	}
	if r.prev != 0 {
		flags |= hasPrev
	}
	if r.old != nil {
		flags |= hasOld
	}
	if r.now != nil {
		flags |= hasNow
	}
	b := make([]byte, 0, 64+recordSum+len(r.key)+len(r.old)+len(r.now)+len(r.request.Update)+len(r.request.Condition))
	b = append(b, recordVersion, byte(r.op), flags)
	b = binary.BigEndian.AppendUint64(b, uint64(r.at))
	b = binary.AppendUvarint(b, r.txn)
	b = binary.AppendUvarint(b, uint64(r.table))
	b = fields.Append(b, r.key)
	b = fields.Append(b, r.origin)
	if flags&hasRequest != 0 {
		b = r.request.append(b)
	}
	if flags&hasPrev != 0 {
		b = binary.AppendUvarint(b, r.prev)
	}
	if flags&hasOld != 0 {
		b = fields.Append(b, r.old)
	}
	b = append(b, r.now...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func (q Request) append(b []byte) []byte {
	b = fields.Append(b, q.Update)
	b = fields.Append(b, q.Condition)
	b = binary.AppendUvarint(b, uint64(len(q.Params.Names)))
	for _, name := range slices.Sorted(maps.Keys(q.Params.Names)) {
		b = fields.Append(b, name)
		b = fields.Append(b, q.Params.Names[name])
	}
	var values []byte
	if len(q.Params.Values) > 0 {
		values = attr.Encode(nil, q.Params.Values)
	}
	return fields.Append(b, values)
}

var errRecord = errors.New("a journal record is cut short or of an unknown version")

func knownRecord(b []byte) bool {
	return len(b) >= recordHeader && b[0] == recordPlain || len(b) >= recordHeader+recordSum && b[0] == recordVersion
}

// checkRecord compares a record with its checksum, and returns it without.
func checkRecord(b []byte) ([]byte, error) {
	if !knownRecord(b) {
		return nil, damaged(errRecord, "journal")
	}
	if b[0] == recordPlain {
		return b, nil
	}
	end := len(b) - recordSum
	if crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return nil, damaged(nil, "a journal record does not match its checksum")
	}
	return b[:end], nil
}

// decodeRecord reads a record. Its byte slices lie in b.
func decodeRecord(b []byte) (r storedRecord, err error) {
	if b, err = checkRecord(b); err != nil {
		return r, err
	}
	flags := b[2]
	r.op = Op(b[1])
	r.at = int64(binary.BigEndian.Uint64(b[recordAt:]))
	d := fields.Reader{B: b[recordHeader:]}
	r.txn = d.Uvarint()
	r.table = uint32(d.Uvarint())
	r.key = d.Bytes()
	r.origin = string(d.Bytes())
	if flags&hasRequest != 0 {
		if r.request, err = readRequest(&d); err != nil {
			return r, damaged(err, "journal")
		}
	}
	if flags&hasPrev != 0 {
		r.prev = d.Uvarint()
	}
	if flags&hasOld != 0 {
		r.old = d.Bytes()
	}
	if flags&hasNow != 0 {
		r.now = d.B
	}
	if d.Bad {
		return r, damaged(errRecord, "journal")
	}
	return r, nil
}

// tableOfRecord reads of a record which table it is about.
func tableOfRecord(b []byte) (id uint32, err error) {
	if !knownRecord(b) {
		return 0, damaged(errRecord, "journal")
	}
	d := fields.Reader{B: b[recordHeader:]}
	d.Uvarint() // txn
	id = uint32(d.Uvarint())
	if d.Bad {
		return 0, damaged(errRecord, "journal")
	}
	return id, nil
}

// readRequest takes off what was asked for.
func readRequest(d *fields.Reader) (Request, error) {
	q := Request{Update: string(d.Bytes()), Condition: string(d.Bytes())}
	if n := d.Count(); n > 0 {
		q.Params.Names = make(map[string]string, n)
		for range n {
			name := string(d.Bytes())
			q.Params.Names[name] = string(d.Bytes())
		}
	}
	values := d.Bytes()
	if len(values) == 0 {
		return q, nil
	}
	it, err := attr.Encoded(values).Decode()
	q.Params.Values = it
	return q, err
}
