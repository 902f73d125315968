package catalogue

import (
	"encoding/binary"
	"encoding/json"

	"github.com/touchline/touchline/store/internal/refusal"
)

// tableRow, indexRow and leftoverRow are the catalogue in the file, as JSON so that fields can be added. The zero value of a new field
// must describe the tables written before it.
type tableRow struct {
	ID      uint32        `json:"id"`
	UUID    string        `json:"uuid,omitempty"`
	Created int64         `json:"created,omitempty"`
	Name    string        `json:"name"`
	Key     [4]string     `json:"key"` // partition, type, sort, type
	Indexes []indexRow    `json:"indexes,omitempty"`
	TTL     string        `json:"ttl,omitempty"`
	Policy  Policy        `json:"policy,omitempty"`
	Why     string        `json:"why,omitempty"`
	Lock    string        `json:"lock,omitempty"`
	Dropped bool          `json:"dropped,omitempty"`
	Through uint64        `json:"through,omitempty"`
	Leaving []leftoverRow `json:"leaving,omitempty"`

	Internal bool          `json:"internal,omitempty"`
	Settings TableSettings `json:"settings,omitzero"`
	Streams  []Stream      `json:"streams,omitempty"`
}

type indexRow struct {
	ID         uint32   `json:"id"`
	Name       string   `json:"name"`
	Key        indexKey `json:"key"`
	Projection uint8    `json:"projection"`
	Include    []string `json:"include,omitempty"`
	Local      bool     `json:"local,omitempty"`
	Filling    bool     `json:"filling,omitempty"`
	UpTo       []byte   `json:"upTo,omitempty"`
	Items      uint64   `json:"items,omitempty"`
	Added      bool     `json:"added,omitempty"`
}

type leftoverRow struct {
	Kind string `json:"kind"`
	ID   uint32 `json:"id"`
	Name string `json:"name,omitempty"`
}

// TableKey returns the key of a table's row in the bucket of tables.
func TableKey(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// Encode returns the table's row in the file.
func (t *Table) Encode() ([]byte, error) {
	r := tableRow{
		ID: t.ID, UUID: t.UUID, Created: t.Created, Name: t.Spec.Name, Key: keyRow(t.Spec.Key), TTL: t.Spec.TTL,
		Policy: t.Spec.Policy, Why: t.Spec.Why, Lock: t.Spec.Lock, Dropped: t.Dropped, Through: t.Through,
		Internal: t.Spec.Internal, Settings: t.Settings, Streams: t.Streams,
	}
	for _, ix := range t.Indexes {
		ir := indexRow{
			ID: ix.ID, Name: ix.Spec.Name, Key: indexKey(ix.Spec.Key),
			Projection: uint8(ix.Spec.Projection), Include: ix.Spec.Include, Local: ix.Spec.Local,
			Added: ix.Added,
		}
		if ix.Fill != nil {
			ir.Filling, ir.UpTo, ir.Items = true, ix.Fill.UpTo, ix.Fill.Items
		}
		r.Indexes = append(r.Indexes, ir)
	}
	for _, l := range t.Leaving {
		r.Leaving = append(r.Leaving, leftoverRow{Kind: string(l.Kind), ID: l.ID, Name: l.Name})
	}
	return json.Marshal(r)
}

// DecodeTable decodes a row written by Encode.
func DecodeTable(encoded []byte) (*Table, error) {
	var r tableRow
	if err := json.Unmarshal(encoded, &r); err != nil {
		return nil, refusal.Damaged(err, "a table row of the catalogue cannot be read")
	}
	t := NewTable(r.ID, TableSpec{
		Name: r.Name, Key: rowKey(r.Key), TTL: r.TTL, Policy: r.Policy, Why: r.Why, Lock: r.Lock, Internal: r.Internal,
	})
	t.Settings, t.Streams = r.Settings, r.Streams
	t.UUID, t.Created, t.Dropped, t.Through = r.UUID, r.Created, r.Dropped, r.Through
	indexes := make([]*Index, 0, len(r.Indexes))
	for _, ir := range r.Indexes {
		ix := NewIndex(ir.ID, IndexSpec{
			Name: ir.Name, Key: KeySpec(ir.Key), Projection: Projection(ir.Projection), Include: ir.Include, Local: ir.Local,
		})
		ix.Added = ir.Added
		if ir.Filling {
			ix.Fill = &Filling{UpTo: ir.UpTo, Items: ir.Items}
		}
		indexes = append(indexes, ix)
	}
	t.SetIndexes(indexes)
	for _, lr := range r.Leaving {
		if len(lr.Kind) != 1 {
			return nil, refusal.Damaged(nil, "a table row of the catalogue names a bucket of the kind %q", lr.Kind)
		}
		t.Leaving = append(t.Leaving, Leftover{Kind: lr.Kind[0], ID: lr.ID, Name: lr.Name})
	}
	return t, nil
}

func keyRow(k KeySpec) [4]string {
	row := [4]string{k.Partition.Name, string(k.Partition.Type)}
	if k.Sort.Name != "" {
		row[2], row[3] = k.Sort.Name, string(k.Sort.Type)
	}
	return row
}

// indexKey is the key of an index in the file. It is encoded like a table's key or, if a part has several attributes, as an object, which
// programs older than such keys refuse.
type indexKey KeySpec

// multiKey holds pairs of name and type.
type multiKey struct {
	Partition [][2]string `json:"partition"`
	Sort      [][2]string `json:"sort,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (k indexKey) MarshalJSON() ([]byte, error) {
	key := KeySpec(k)
	if !key.Multi() {
		return json.Marshal(keyRow(key))
	}
	list := func(attrs []KeyAttr) (out [][2]string) {
		for _, a := range attrs {
			out = append(out, [2]string{a.Name, string(a.Type)})
		}
		return out
	}
	return json.Marshal(multiKey{Partition: list(key.PartitionAttrs()), Sort: list(key.SortAttrs())})
}

// UnmarshalJSON implements json.Unmarshaler.
func (k *indexKey) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		var row [4]string
		err := json.Unmarshal(text, &row)
		*k = indexKey(rowKey(row))
		return err
	}
	var multi multiKey
	err := json.Unmarshal(text, &multi)
	attrs := func(list [][2]string) (out []KeyAttr) {
		for _, a := range list {
			out = append(out, rowAttr(a[0], a[1]))
		}
		return out
	}
	*k = indexKey(NewKeySpec(attrs(multi.Partition), attrs(multi.Sort)))
	return err
}

func rowKey(r [4]string) KeySpec {
	return KeySpec{Partition: rowAttr(r[0], r[1]), Sort: rowAttr(r[2], r[3])}
}

func rowAttr(name, kind string) KeyAttr {
	if len(kind) != 1 {
		return KeyAttr{Name: name}
	}
	return KeyAttr{Name: name, Type: KeyType(kind[0])}
}
