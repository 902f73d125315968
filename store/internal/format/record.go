package format

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Op is what a write did.
type Op uint8

// The operations in journal records.
const (
	OpPut Op = iota + 1
	OpUpdate
	OpDelete
)

// String returns DynamoDB's name of the operation.
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

// Record is one write in the journal: the request, and the item before and after it.
type Record struct {
	Seq     uint64 // without holes within an incarnation of the node
	Txn     uint64 // Seq of the first record of the same transaction
	At      time.Time
	Table   string
	Key     attr.Item
	Op      Op
	Old     attr.Item // nil: no item
	New     attr.Item // nil: deleted
	Origin  string    // who made the write; empty: this node's own application
	Request Request
}

// Request is the requested write. For a Put, the item is in Record.New.
type Request struct {
	Update    string
	Condition string
	Params    expr.Params
}

// StoredRecord is a record as stored in the file. Each image is stored once: a record holds the new image, and for the old one the
// sequence of the record that wrote it, or a copy if that record had been trimmed. For example, if record 9 updates an item last written
// by record 4, its Prev is 4. See txn's trim for how trimming preserves this.
type StoredRecord struct {
	Op      Op
	At      int64  // nanoseconds since 1970
	Txn     uint64 // distance to the first record of the transaction
	Table   uint32
	Key     []byte
	Origin  string
	Request Request
	Prev    uint64       // sequence of the record with the old image; 0: none
	Old     attr.Encoded // the old image if Prev is 0; nil: none
	Now     attr.Encoded // the new image; nil: deleted
}

// Version, time and checksum can be read without decoding the record.
const (
	RecordPlain  = 1 // version without checksum, from files of format 2
	RecordAt     = 3 // offset of the time
	RecordHeader = RecordAt + 8
	RecordSum    = 4 // bytes of the checksum at the end

	recordVersion = 6

	hasRequest = 1 << 0
	hasPrev    = 1 << 1
	hasOld     = 1 << 2
	hasNow     = 1 << 3
)

// Encode returns the record as stored in the file.
func (r *StoredRecord) Encode() []byte {
	var flags byte
	if r.Request.Update != "" || r.Request.Condition != "" {
		flags |= hasRequest
	}
	if r.Prev != 0 {
		flags |= hasPrev
	}
	if r.Old != nil {
		flags |= hasOld
	}
	if r.Now != nil {
		flags |= hasNow
	}
	b := make([]byte, 0, 64+RecordSum+len(r.Key)+len(r.Old)+len(r.Now)+len(r.Request.Update)+len(r.Request.Condition))
	b = append(b, recordVersion, byte(r.Op), flags)
	b = binary.BigEndian.AppendUint64(b, uint64(r.At))
	b = binary.AppendUvarint(b, r.Txn)
	b = binary.AppendUvarint(b, uint64(r.Table))
	b = fields.Append(b, r.Key)
	b = fields.Append(b, r.Origin)
	if flags&hasRequest != 0 {
		b = r.Request.Append(b)
	}
	if flags&hasPrev != 0 {
		b = binary.AppendUvarint(b, r.Prev)
	}
	if flags&hasOld != 0 {
		b = fields.Append(b, r.Old)
	}
	b = append(b, r.Now...)
	return binary.BigEndian.AppendUint32(b, checksum(0, b))
}

// Append appends the encoded request.
func (q Request) Append(b []byte) []byte {
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

// ErrRecord is the cause of the fault of a record that cannot be decoded at all.
var ErrRecord = errors.New("a journal record is truncated or has an unknown version")

func knownRecord(b []byte) bool {
	return len(b) >= RecordHeader && b[0] == RecordPlain || len(b) >= RecordHeader+RecordSum && b[0] == recordVersion
}

// CheckRecord verifies the checksum of a record and returns the record without it.
func CheckRecord(b []byte) ([]byte, error) {
	if !knownRecord(b) {
		return nil, refusal.DamagedData(ErrRecord, "journal")
	}
	if b[0] == RecordPlain {
		return b, nil
	}
	end := len(b) - RecordSum
	if checksum(0, b[:end]) != binary.BigEndian.Uint32(b[end:]) {
		return nil, refusal.DamagedData(nil, "a journal record does not match its checksum")
	}
	return b[:end], nil
}

// DecodeRecord decodes a record. Its byte slices point into b.
func DecodeRecord(b []byte) (r StoredRecord, err error) {
	if b, err = CheckRecord(b); err != nil {
		return r, err
	}
	flags := b[2]
	r.Op = Op(b[1])
	r.At = int64(binary.BigEndian.Uint64(b[RecordAt:]))
	d := fields.Reader{B: b[RecordHeader:]}
	r.Txn = d.Uvarint()
	r.Table = uint32(d.Uvarint())
	r.Key = d.Bytes()
	r.Origin = string(d.Bytes())
	if flags&hasRequest != 0 {
		if r.Request, err = readRequest(&d); err != nil {
			return r, refusal.DamagedData(err, "journal")
		}
	}
	if flags&hasPrev != 0 {
		r.Prev = d.Uvarint()
	}
	if flags&hasOld != 0 {
		r.Old = d.Bytes()
	}
	if flags&hasNow != 0 {
		r.Now = d.B
	}
	if d.Bad {
		return r, refusal.DamagedData(ErrRecord, "journal")
	}
	return r, nil
}

// TableOfRecord returns the id of the table that a record is about.
func TableOfRecord(b []byte) (id uint32, err error) {
	if !knownRecord(b) {
		return 0, refusal.DamagedData(ErrRecord, "journal")
	}
	d := fields.Reader{B: b[RecordHeader:]}
	d.Uvarint() // txn
	id = uint32(d.Uvarint())
	if d.Bad {
		return 0, refusal.DamagedData(ErrRecord, "journal")
	}
	return id, nil
}

// readRequest decodes a request.
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
