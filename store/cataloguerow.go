package store

import (
	"encoding/binary"
	"encoding/json"
)

// tableRow, indexRow and leftoverRow are the catalogue as it lies in the file: JSON, so that fields can be added. A
// field that is missing says what was true of every table before there was the field.
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

// tableKey is the key of a table's row in the bucket of tables.
func tableKey(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

func (t *table) encode() ([]byte, error) {
	r := tableRow{
		ID: t.id, UUID: t.uuid, Created: t.created, Name: t.spec.Name, Key: keyRow(t.spec.Key), TTL: t.spec.TTL,
		Policy: t.spec.Policy, Why: t.spec.Why, Lock: t.spec.Lock, Dropped: t.dropped, Through: t.through,
		Internal: t.spec.Internal, Settings: t.settings, Streams: t.streams,
	}
	for _, ix := range t.indexes {
		ir := indexRow{
			ID: ix.id, Name: ix.spec.Name, Key: indexKey(ix.spec.Key),
			Projection: uint8(ix.spec.Projection), Include: ix.spec.Include, Local: ix.spec.Local,
			Added: ix.added,
		}
		if ix.fill != nil {
			ir.Filling, ir.UpTo, ir.Items = true, ix.fill.upTo, ix.fill.items
		}
		r.Indexes = append(r.Indexes, ir)
	}
	for _, l := range t.leaving {
		r.Leaving = append(r.Leaving, leftoverRow{Kind: string(l.kind), ID: l.id, Name: l.name})
	}
	return json.Marshal(r)
}

func decodeTable(encoded []byte) (*table, error) {
	var r tableRow
	if err := json.Unmarshal(encoded, &r); err != nil {
		return nil, damaged(err, "a table row of the catalogue cannot be read")
	}
	t := newTable(r.ID, TableSpec{
		Name: r.Name, Key: rowKey(r.Key), TTL: r.TTL, Policy: r.Policy, Why: r.Why, Lock: r.Lock, Internal: r.Internal,
	})
	t.settings, t.streams = r.Settings, r.Streams
	t.uuid, t.created, t.dropped, t.through = r.UUID, r.Created, r.Dropped, r.Through
	indexes := make([]*index, 0, len(r.Indexes))
	for _, ir := range r.Indexes {
		ix := newIndex(ir.ID, IndexSpec{
			Name: ir.Name, Key: KeySpec(ir.Key), Projection: Projection(ir.Projection), Include: ir.Include, Local: ir.Local,
		})
		ix.added = ir.Added
		if ir.Filling {
			ix.fill = &filling{upTo: ir.UpTo, items: ir.Items}
		}
		indexes = append(indexes, ix)
	}
	t.setIndexes(indexes)
	for _, lr := range r.Leaving {
		if len(lr.Kind) != 1 {
			return nil, damaged(nil, "a table row of the catalogue names a bucket of the kind %q", lr.Kind)
		}
		t.leaving = append(t.leaving, leftover{kind: lr.Kind[0], id: lr.ID, name: lr.Name})
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

// indexKey is a key of an index as it lies in the file: as a table's, or, of several attributes a part, an object, which
// programs from before there were such keys do not take for one of theirs.
type indexKey KeySpec

// multiKey lists names and types.
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
