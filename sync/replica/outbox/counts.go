package outbox

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
)

// Tally is what a transaction adds to the counts, by table.
type Tally map[string]Count

func (t Tally) add(table string, entries, bytes int64) {
	t[table] = Count{Entries: t[table].Entries + entries, Bytes: t[table].Bytes + bytes}
}

// Counts holds the contents of the outbox by table.
type Counts map[string]Count

// Count is the number of waiting entries of a table and the size of their records in bytes.
type Count struct{ Entries, Bytes int64 }

// Total returns the sum over all tables.
func (c Counts) Total() (t Count) {
	for _, n := range c {
		t.Entries += n.Entries
		t.Bytes += n.Bytes
	}
	return t
}

// ReadCounts reads the counts of all tables.
func ReadCounts(tx *store.Tx) (Counts, error) {
	b, err := tx.Side(SideMeta).Get([]byte("counts"))
	if err != nil {
		return nil, err
	}
	out := Counts{}
	for c := (fields.Reader{B: b}); len(c.B) > 0; {
		table := string(c.Bytes())
		out[table] = Count{Entries: c.Varint(), Bytes: c.Varint()}
		if c.Bad {
			return nil, fault.New(fault.Damaged, "outbox", "the counts of the outbox cannot be read")
		}
	}
	return out, nil
}

// AddToCounts adds the tally to the counts.
func (t Tally) AddToCounts(tx *store.Tx) error {
	if len(t) == 0 {
		return nil
	}
	all, err := ReadCounts(tx)
	if err != nil {
		return err
	}
	for table, more := range t {
		n := Count{Entries: all[table].Entries + more.Entries, Bytes: all[table].Bytes + more.Bytes}
		all[table] = n
		if n.Entries == 0 && n.Bytes == 0 {
			delete(all, table)
		}
	}
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b = fields.Append(b, name)
		b = binary.AppendVarint(b, all[name].Entries)
		b = binary.AppendVarint(b, all[name].Bytes)
	}
	return tx.Side(SideMeta).Set([]byte("counts"), b)
}

// addDoubtful adds n to the number of entries left out of the views.
func addDoubtful(tx *store.Tx, n int) error {
	have, err := ReadDoubtful(tx)
	if err != nil {
		return err
	}
	return tx.Side(SideMeta).Set([]byte("doubtful"), binary.AppendVarint(nil, max(have+int64(n), 0)))
}

// ReadDoubtful reads the number of entries left out of the views.
func ReadDoubtful(tx *store.Tx) (int64, error) {
	b, err := tx.Side(SideMeta).Get([]byte("doubtful"))
	if err != nil || b == nil {
		return 0, err
	}
	n, _ := binary.Varint(b)
	return n, nil
}

// ReadAttempted reads which batches of a worker are marked as attempted.
func ReadAttempted(tx *store.Tx, worker uint8) ([]uint64, error) {
	b, err := tx.Side(sideAttempted).Get([]byte{worker})
	if err != nil || b == nil {
		return nil, err
	}
	c := fields.Reader{B: b}
	var out []uint64
	last := uint64(0)
	for len(c.B) > 0 && !c.Bad {
		last += c.Uvarint()
		out = append(out, last)
	}
	if c.Bad {
		return nil, fault.New(fault.Damaged, "outbox", "the marks of worker %d cannot be read", worker)
	}
	return out, nil
}

// MarkAttempted sets which batches of a worker may be on their way.
func MarkAttempted(tx *store.Tx, worker uint8, seqs []uint64) error {
	slices.Sort(seqs)
	var b []byte
	last := uint64(0)
	for _, seq := range seqs {
		b = binary.AppendUvarint(b, seq-last)
		last = seq
	}
	if len(b) == 0 {
		return tx.Side(sideAttempted).Delete([]byte{worker})
	}
	return tx.Side(sideAttempted).Set([]byte{worker}, b)
}
