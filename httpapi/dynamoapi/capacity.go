package dynamoapi

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Bytes, as attr.Size counts them, per unit of read and write capacity.
const (
	readUnit  = 4096
	writeUnit = 1024
)

// consumption counts the capacity that a request consumes, as DynamoDB would bill it. A nil one, when it was not requested, counts and
// writes nothing.
type consumption struct {
	byIndex bool // INDEXES: list the parts too
	tables  map[string]*tableUnits
}

// tableUnits is the consumption of a table: in total, of the table itself, and of its indexes.
type tableUnits struct {
	total, own    units
	local, global map[string]*units
}

// units are capacity units. In transactions, reads and writes are also listed separately.
type units struct {
	read, write float64
	transact    bool
}

// newConsumption returns a count for ReturnConsumedCapacity; nil if it is NONE or absent.
func newConsumption(mode wire.Opt[string]) *consumption {
	if !mode.Set || mode.V == "NONE" {
		return nil
	}
	return &consumption{byIndex: mode.V == "INDEXES", tables: map[string]*tableUnits{}}
}

// read counts a read of bytes from a table, or from an index if ix is set: one unit per started 4 KB, half if the read is not
// consistent, double in a transaction. Finding nothing costs as much as the smallest item.
func (u *consumption) read(table string, ix *store.IndexSpec, bytes int, consistent, transact bool) {
	if u == nil {
		return
	}
	n := whole(bytes, readUnit)
	switch {
	case transact:
		n *= 2
	case !consistent:
		n /= 2
	}
	u.count(table, ix, units{read: n, transact: transact})
}

// watchReads counts the transaction's subsequent reads.
func (u *consumption) watchReads(tx *store.Tx, consistent func(table string) bool, transact bool) {
	if u == nil {
		return
	}
	tx.OnTouch(func(t store.Touch) { u.read(t.Table, nil, t.Old, consistent(t.Table), transact) })
}

// watch counts subsequent writes, and reads and checks by key.
func (u *consumption) watch(tx *store.Tx, transact bool) {
	if u != nil {
		tx.OnTouch(func(t store.Touch) { u.countWrite(t, transact) })
	}
}

// reread counts an action of a transaction that was applied before: DynamoDB then reads its item.
func (u *consumption) reread(t store.Touch) {
	u.read(t.Table, nil, t.Old, true, true)
}

// countWrite counts a write: one unit per started KB of the larger image, plus its indexes, where a moved entry counts as a delete and a
// put; double in a transaction. A write without changes, and a condition check, cost only the table's part.
func (u *consumption) countWrite(t store.Touch, transact bool) {
	if u == nil {
		return
	}
	times := 1.0
	if transact {
		times = 2
	}
	u.count(t.Table, nil, units{write: times * whole(max(t.Old, t.New), writeUnit), transact: transact})
	for _, ix := range t.Indexes {
		n := whole(max(ix.Old, ix.New), writeUnit)
		if ix.Moved {
			n = whole(ix.Old, writeUnit) + whole(ix.New, writeUnit)
		}
		u.count(t.Table, &store.IndexSpec{Name: ix.Index, Local: ix.Local}, units{write: times * n, transact: transact})
	}
}

// countFetches counts reads from the table for attributes that a local index does not project, in consistent read units.
func (u *consumption) countFetches(table string, n int, consistent bool) {
	if u == nil || n == 0 {
		return
	}
	read := float64(n)
	if !consistent {
		read /= 2
	}
	u.count(table, nil, units{read: read})
}

// whole returns how many units of a size the bytes start, at least one.
func whole(bytes, unit int) float64 { return float64(max(1, (bytes+unit-1)/unit)) }

// count adds units to a table, and to the part that they belong to: an index, or if ix is nil the table itself.
func (u *consumption) count(table string, ix *store.IndexSpec, n units) {
	t := u.tables[table]
	if t == nil {
		t = &tableUnits{local: map[string]*units{}, global: map[string]*units{}}
		u.tables[table] = t
	}
	t.total.add(n)
	if ix == nil {
		t.own.add(n)
		return
	}
	parts := t.global
	if ix.Local {
		parts = t.local
	}
	if parts[ix.Name] == nil {
		parts[ix.Name] = new(units)
	}
	parts[ix.Name].add(n)
}

// indexOf returns an index of a table by name, or nil.
func indexOf(spec *store.TableSpec, name string) *store.IndexSpec {
	i := slices.IndexFunc(spec.Indexes, func(ix store.IndexSpec) bool { return ix.Name == name })
	if i < 0 {
		return nil
	}
	return &spec.Indexes[i]
}

func (n *units) add(more units) {
	n.read += more.read
	n.write += more.write
	n.transact = n.transact || more.transact
}

// one writes the member ConsumedCapacity for a request about one table.
func (u *consumption) one(out *wire.Encoder) {
	if u == nil {
		return
	}
	for name, t := range u.tables {
		out.Name("ConsumedCapacity")
		u.table(out, name, t)
	}
}

// all writes the member ConsumedCapacity for a request about several tables.
func (u *consumption) all(out *wire.Encoder) {
	if u == nil {
		return
	}
	out.NamedArray("ConsumedCapacity")
	for _, name := range slices.Sorted(maps.Keys(u.tables)) {
		u.table(out, name, u.tables[name])
	}
	out.EndArray()
}

func (u *consumption) table(out *wire.Encoder, name string, t *tableUnits) {
	out.Begin()
	t.total.members(out)
	out.NamedText("TableName", name)
	if u.byIndex {
		out.Name("Table")
		t.own.object(out)
		parts(out, "LocalSecondaryIndexes", t.local)
		parts(out, "GlobalSecondaryIndexes", t.global)
	}
	out.End()
}

func parts(out *wire.Encoder, name string, of map[string]*units) {
	if len(of) == 0 {
		return
	}
	out.NamedObject(name)
	for _, index := range slices.Sorted(maps.Keys(of)) {
		out.Name(index)
		of[index].object(out)
	}
	out.End()
}

func (n *units) object(out *wire.Encoder) {
	out.Begin()
	n.members(out)
	out.End()
}

func (n *units) members(out *wire.Encoder) {
	out.NamedFloat("CapacityUnits", n.read+n.write)
	if !n.transact {
		return
	}
	if n.read > 0 {
		out.NamedFloat("ReadCapacityUnits", n.read)
	}
	if n.write > 0 {
		out.NamedFloat("WriteCapacityUnits", n.write)
	}
}

// ledger accounts for the writes of a request about many items. It records only what the request asks for, usually nothing.
type ledger struct {
	units       *consumption
	collections *collections
}

func newLedger(capacity, metrics wire.Opt[string]) *ledger {
	return &ledger{units: newConsumption(capacity), collections: newCollections(metrics)}
}

// add records an intended write; subject is the item or its key. A missing table is ignored, because the request will fail.
func (l *ledger) add(c *call, table string, subject attr.Item) {
	if l.collections == nil {
		return
	}
	if d, err := c.table(table); err == nil {
		l.collections.recordWrite(&d.Spec, subject)
	}
}

// write writes the members of the answer.
func (l *ledger) write(out *wire.Encoder) {
	l.units.all(out)
	l.collections.all(out)
}

// collections records the item collections that a request wrote to: the items of a partition in tables with local indexes. A nil one,
// when it was not requested, records and writes nothing.
type collections struct {
	tables map[string][]attr.Value // partition keys by table name
	key    map[string]string       // name of each table's partition key
}

// newCollections returns a list for ReturnItemCollectionMetrics; nil if it is NONE or absent.
func newCollections(mode wire.Opt[string]) *collections {
	if mode.V != "SIZE" {
		return nil
	}
	return &collections{tables: map[string][]attr.Value{}, key: map[string]string{}}
}

// recordWrite records the collection of an item or key.
func (m *collections) recordWrite(spec *store.TableSpec, it attr.Item) {
	if m == nil || !slices.ContainsFunc(spec.Indexes, func(ix store.IndexSpec) bool { return ix.Local }) {
		return
	}
	name := spec.Key.Partition.Name
	m.key[spec.Name] = name
	if v, ok := it[name]; ok && !slices.ContainsFunc(m.tables[spec.Name], v.Equal) {
		m.tables[spec.Name] = append(m.tables[spec.Name], v)
	}
}

// one writes the member ItemCollectionMetrics for a request about one item, if it has a collection.
func (m *collections) one(out *wire.Encoder) {
	if m == nil {
		return
	}
	for table, values := range m.tables {
		out.Name("ItemCollectionMetrics")
		m.write(out, table, values[0])
	}
}

// all writes the member ItemCollectionMetrics for a request about several items, if any has a collection.
func (m *collections) all(out *wire.Encoder) {
	if m == nil || len(m.tables) == 0 {
		return
	}
	out.NamedObject("ItemCollectionMetrics")
	for _, table := range slices.Sorted(maps.Keys(m.tables)) {
		values := m.tables[table]
		slices.SortFunc(values, func(a, b attr.Value) int {
			n, _ := attr.Compare(a, b)
			return n
		})
		out.NamedArray(table)
		for _, v := range values {
			m.write(out, table, v)
		}
		out.EndArray()
	}
	out.End()
}

// write writes an estimate of a collection's size. It is always the smallest: no limit of 10 GB applies here, and measuring a
// collection would mean reading it.
func (m *collections) write(out *wire.Encoder, table string, v attr.Value) {
	out.Begin()
	writeItem(out, "ItemCollectionKey", attr.Item{m.key[table]: v})
	out.NamedArray("SizeEstimateRangeGB")
	out.Float(0)
	out.Float(1)
	out.EndArray()
	out.End()
}
