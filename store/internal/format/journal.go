package format

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/refusal"
)

// StepTo returns the state of the journal at the start of an incarnation. Existing records stay.
func (j JournalState) StepTo(incarnation uint64) JournalState {
	empty := j.First > j.Last
	j.Last = incarnation << IncarnationBits
	if empty {
		j.First, j.FirstAt = j.Last+1, 0
	}
	return j
}

// LastWritten returns the sequence of the last record that was written, in whichever incarnation: the present one may have none. If the
// file does not say, because a program that did not note it began the incarnation and the journal is trimmed, it is where the present
// incarnation starts, which is not less.
func LastWritten(meta, journal *bolt.Bucket, incarnation uint64, j JournalState) uint64 {
	if j.Last != incarnation<<IncarnationBits {
		return j.Last
	}
	if note := meta.Get(MetaWritten); len(note) == 16 && binary.BigEndian.Uint64(note) == incarnation {
		return binary.BigEndian.Uint64(note[8:])
	}
	if last, _ := journal.Cursor().Last(); len(last) == 8 {
		return binary.BigEndian.Uint64(last)
	}
	return j.Last
}

// NoteWritten returns the value of MetaWritten: the last sequence that was written before an incarnation began.
func NoteWritten(incarnation, seq uint64) []byte {
	note := binary.BigEndian.AppendUint64(make([]byte, 0, 16), incarnation)
	return binary.BigEndian.AppendUint64(note, seq)
}

// JournalFill packs the pages of a bucket that only grows at its end.
const JournalFill = 0.9

// SeqKey returns the key of a record.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), seq) }

// OldImage returns the image before a record.
func OldImage(bucket *bolt.Bucket, r *StoredRecord) ([]byte, error) {
	if r.Prev == 0 {
		return r.Old, nil
	}
	prev, err := DecodeRecord(bucket.Get(SeqKey(r.Prev)))
	if err != nil {
		return nil, err
	}
	if prev.Now == nil {
		return nil, refusal.DamagedData(nil, "journal record %d has no image", r.Prev)
	}
	return prev.Now, nil
}

// IncarnationBits is how many bits of a sequence count within one incarnation of the node: sequence 3<<40 + 7 is the seventh of
// incarnation 3.
const IncarnationBits = 40

// JournalState is the position of the journal. It is stored in the meta bucket because it cannot be derived from a journal that was
// trimmed to its end.
type JournalState struct {
	First uint64 // sequence of the first record that is not trimmed; Last+1 if there is none
	Last  uint64 // sequence of the last record written, or what StepTo set until the next one
	Bytes uint64 // stored size of the records from First to Last

	FirstAt int64 // when First was written; 0: not looked up; not stored
}

// Encode returns the state as stored in the file.
func (j JournalState) Encode() []byte {
	b := make([]byte, 0, 24)
	b = binary.BigEndian.AppendUint64(b, j.First)
	b = binary.BigEndian.AppendUint64(b, j.Last)
	return binary.BigEndian.AppendUint64(b, j.Bytes)
}

// Equal compares the stored fields.
func (j JournalState) Equal(o JournalState) bool {
	return j.First == o.First && j.Last == o.Last && j.Bytes == o.Bytes
}

// DecodeJournalState decodes what Encode wrote.
func DecodeJournalState(b []byte) (JournalState, bool) {
	if len(b) != 24 {
		return JournalState{}, false
	}
	return JournalState{
		First: binary.BigEndian.Uint64(b),
		Last:  binary.BigEndian.Uint64(b[8:]),
		Bytes: binary.BigEndian.Uint64(b[16:]),
	}, true
}

// Next returns the sequence after First. Sequences have holes only between incarnations.
func (j *JournalState) Next(bucket *bolt.Bucket) uint64 {
	if j.First == j.Last || j.First>>IncarnationBits == j.Last>>IncarnationBits {
		return j.First + 1
	}
	if next, _ := bucket.Cursor().Seek(SeqKey(j.First + 1)); next != nil {
		return binary.BigEndian.Uint64(next)
	}
	return j.Last + 1
}
