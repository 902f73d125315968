package catalogue

import (
	"encoding/binary"
	"encoding/json"

	"github.com/touchline/touchline/store/internal/refusal"
)

// tableRow and indexRow are the catalogue in the file, as JSON so that fields can be added. The zero value of a new field must describe
// the tables written before it.
type tableRow struct {
	ID      uint32     `json:"id"`
	UUID    string     `json:"uuid,omitempty"`
	Created int64      `json:"created,omitempty"`
	Name    string     `json:"name"`
	Key     KeySpec    `json:"key"`
	Indexes []indexRow `json:"indexes,omitempty"`
	TTL     string     `json:"ttl,omitempty"`
	Policy  Policy     `json:"policy,omitempty"`
	Why     string     `json:"why,omitempty"`
	Lock    string     `json:"lock,omitempty"`
	Dropped bool       `json:"dropped,omitempty"`
	Through uint64     `json:"through,omitempty"`
	Leaving []Leftover `json:"leaving,omitempty"`

	Internal bool          `json:"internal,omitempty"`
	Settings TableSettings `json:"settings,omitzero"`
	Streams  []Stream      `json:"streams,omitempty"`
}

type indexRow struct {
	ID uint32 `json:"id"`
	IndexSpec
	Unfilled bool `json:"filling,omitempty"`
	Filling
	Added bool `json:"added,omitempty"`
}

// TableKey returns the key of a table's row in the bucket of tables.
func TableKey(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// Encode returns the table's row in the file.
func (t *Table) Encode() ([]byte, error) {
	s := t.Spec
	r := tableRow{
		ID: t.ID, UUID: t.UUID, Created: t.Created, Dropped: t.Dropped, Through: t.Through, Leaving: t.Leaving,
		Name: s.Name, Key: s.Key, TTL: s.TTL, Policy: s.Policy, Why: s.Why, Lock: s.Lock, Internal: s.Internal,
		Settings: t.Settings, Streams: t.Streams,
	}
	for _, ix := range t.Indexes {
		ir := indexRow{ID: ix.ID, IndexSpec: ix.Spec, Added: ix.Added}
		if ix.Fill != nil {
			ir.Unfilled, ir.Filling = true, *ix.Fill
		}
		r.Indexes = append(r.Indexes, ir)
	}
	return json.Marshal(r)
}

// DecodeTable decodes a row written by Encode.
func DecodeTable(encoded []byte) (*Table, error) {
	var r tableRow
	if err := json.Unmarshal(encoded, &r); err != nil {
		return nil, refusal.DamagedData(err, "a table row of the catalogue cannot be read")
	}
	for _, l := range r.Leaving {
		if len(l.Kind) != 1 {
			return nil, refusal.DamagedData(nil, "a table row of the catalogue names a bucket of the kind %q", l.Kind)
		}
	}
	t := NewTable(r.ID, TableSpec{
		Name: r.Name, Key: r.Key, TTL: r.TTL, Policy: r.Policy, Why: r.Why, Lock: r.Lock, Internal: r.Internal,
	})
	t.UUID, t.Created, t.Dropped, t.Through, t.Leaving = r.UUID, r.Created, r.Dropped, r.Through, r.Leaving
	t.Settings, t.Streams = r.Settings, r.Streams
	indexes := make([]*Index, 0, len(r.Indexes))
	for _, ir := range r.Indexes {
		ix := NewIndex(ir.ID, ir.IndexSpec)
		ix.Added = ir.Added
		if ir.Unfilled {
			ix.Fill = &ir.Filling
		}
		indexes = append(indexes, ix)
	}
	t.SetIndexes(indexes)
	return t, nil
}

// multiKey is the key of an index in the file if a part of it has several attributes. Programs older than such keys refuse it.
type multiKey struct {
	Partition []KeyAttr `json:"partition"`
	Sort      []KeyAttr `json:"sort,omitempty"`
}

// MarshalJSON implements json.Marshaler: partition, type, sort, type, or a multiKey.
func (k KeySpec) MarshalJSON() ([]byte, error) {
	if k.Multi() {
		return json.Marshal(multiKey{Partition: k.PartitionAttrs(), Sort: k.SortAttrs()})
	}
	row := [4]string{k.Partition.Name, string(k.Partition.Type)}
	if k.Sort.Name != "" {
		row[2], row[3] = k.Sort.Name, string(k.Sort.Type)
	}
	return json.Marshal(row)
}

// UnmarshalJSON implements json.Unmarshaler.
func (k *KeySpec) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		var multi multiKey
		err := json.Unmarshal(text, &multi)
		*k = NewKeySpec(multi.Partition, multi.Sort)
		return err
	}
	var row [4]string
	err := json.Unmarshal(text, &row)
	*k = KeySpec{Partition: rowAttr(row[0], row[1]), Sort: rowAttr(row[2], row[3])}
	return err
}

// MarshalJSON implements json.Marshaler: a pair of name and type.
func (a KeyAttr) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]string{a.Name, string(a.Type)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *KeyAttr) UnmarshalJSON(text []byte) error {
	var pair [2]string
	err := json.Unmarshal(text, &pair)
	*a = rowAttr(pair[0], pair[1])
	return err
}

func rowAttr(name, kind string) KeyAttr {
	if len(kind) != 1 {
		return KeyAttr{Name: name}
	}
	return KeyAttr{Name: name, Type: KeyType(kind[0])}
}
