package dynamoapi

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// The sizes that a unit of capacity reads and writes, in bytes as attr.Size counts them.
const (
	readUnit  = 4096
	writeUnit = 1024
)

// consumption counts the capacity that a request consumes, as DynamoDB would bill it. A nil one counts nothing and writes
// nothing: it was not asked for.
type consumption struct {
	byIndex bool // INDEXES: the parts are told too
	tables  map[string]*tableUnits
}

// tableUnits is what was consumed of a table: in all, of the table itself, and of its indexes.
type tableUnits struct {
	total, own    units
	local, global map[string]*units
}

// units are capacity units. Those of transactions are also told apart by what they were for.
type units struct {
	read, write float64
	transact    bool
}

// newConsumption starts a count for ReturnConsumedCapacity; nil for NONE and where it is absent.
func newConsumption(mode wire.Opt[string]) *consumption {
	if !mode.Set || mode.V == "NONE" {
		return nil
	}
	return &consumption{byIndex: mode.V == "INDEXES", tables: map[string]*tableUnits{}}
}

// read counts what a read of so many bytes of a table or, if it is named, of an index costs: a unit for each begun 4 KB,
// half of it when the read is not consistent, twice of it in a transaction. To find nothing costs as much as the smallest
// item.
func (u *consumption) read(spec *store.TableSpec, index string, bytes int, consistent, transact bool) {
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
	u.count(spec, index, units{read: n, transact: transact})
}

// watchReads counts what the reads of a transaction that follow cost.
func (u *consumption) watchReads(tx *store.Tx, consistent func(table string) bool, transact bool) {
	if u == nil {
		return
	}
	tx.Touched(func(t store.Touch) { u.read(&store.TableSpec{Name: t.Table}, "", t.Old, consistent(t.Table), transact) })
}

// write counts what a write costs that leads from one item to another, either of which may be none: a unit for each begun
// KB of the larger one, and what its indexes cost, all of it twice in a transaction. A write that changes nothing, or a
// condition alone, costs the table's part.
func (u *consumption) write(spec *store.TableSpec, old, now attr.Item, transact bool) {
	if u == nil {
		return
	}
	times := 1.0
	if transact {
		times = 2
	}
	u.count(spec, "", units{write: times * whole(max(attr.Size(old), attr.Size(now)), writeUnit), transact: transact})
	for i := range spec.Indexes {
		if n := indexWrite(spec, &spec.Indexes[i], old, now); n > 0 {
			u.count(spec, spec.Indexes[i].Name, units{write: times * n, transact: transact})
		}
	}
}

// whole gives how many units of a size so many bytes begin, at least one.
func whole(bytes, unit int) float64 { return float64(max(1, (bytes+unit-1)/unit)) }

// indexWrite gives the units that a write costs in an index, where an item that moves is deleted and put.
func indexWrite(spec *store.TableSpec, ix *store.IndexSpec, old, now attr.Item) float64 {
	was, is := entryOf(spec, ix, old), entryOf(spec, ix, now)
	switch {
	case was == nil && is == nil, was != nil && is != nil && attr.EqualItems(was, is):
		return 0
	case was == nil || is == nil || sameKey(&ix.Key, was, is):
		return whole(max(attr.Size(was), attr.Size(is)), writeUnit)
	}
	return whole(attr.Size(was), writeUnit) + whole(attr.Size(is), writeUnit)
}

// entryOf gives what an index shows of an item, nil if the item is not in it.
func entryOf(spec *store.TableSpec, ix *store.IndexSpec, it attr.Item) attr.Item {
	if it == nil {
		return nil
	}
	for _, a := range keyAttrs(&ix.Key) {
		if it[a.Name].Kind().String() != string(a.Type) {
			return nil
		}
	}
	if ix.Projection == store.ProjectAll {
		return it
	}
	entry := attr.Item{}
	show := func(name string) {
		if v, ok := it[name]; ok {
			entry[name] = v
		}
	}
	for _, a := range slices.Concat(keyAttrs(&spec.Key), keyAttrs(&ix.Key)) {
		show(a.Name)
	}
	if ix.Projection == store.ProjectInclude {
		for _, name := range ix.Include {
			show(name)
		}
	}
	return entry
}

func sameKey(key *store.KeySpec, a, b attr.Item) bool {
	for _, k := range keyAttrs(key) {
		if !attr.Equal(a[k.Name], b[k.Name]) {
			return false
		}
	}
	return true
}

// keyAttrs gives the attributes of a key.
func keyAttrs(key *store.KeySpec) []store.KeyAttr {
	if key.Sort.Name == "" {
		return []store.KeyAttr{key.Partition}
	}
	return []store.KeyAttr{key.Partition, key.Sort}
}

// count adds units to a table, and to the part of it that they belong to.
func (u *consumption) count(spec *store.TableSpec, index string, n units) {
	t := u.tables[spec.Name]
	if t == nil {
		t = &tableUnits{local: map[string]*units{}, global: map[string]*units{}}
		u.tables[spec.Name] = t
	}
	t.total.add(n)
	if index == "" {
		t.own.add(n)
		return
	}
	parts := t.global
	if slices.ContainsFunc(spec.Indexes, func(ix store.IndexSpec) bool { return ix.Name == index && ix.Local }) {
		parts = t.local
	}
	if parts[index] == nil {
		parts[index] = new(units)
	}
	parts[index].add(n)
}

func (n *units) add(more units) {
	n.read += more.read
	n.write += more.write
	n.transact = n.transact || more.transact
}

// one writes the member ConsumedCapacity of a request about one table.
func (u *consumption) one(out *wire.Encoder) {
	if u == nil {
		return
	}
	for name, t := range u.tables {
		out.Name("ConsumedCapacity")
		u.table(out, name, t)
	}
}

// all writes the member ConsumedCapacity of a request about any tables.
func (u *consumption) all(out *wire.Encoder) {
	if u == nil {
		return
	}
	out.Name("ConsumedCapacity")
	out.BeginArray()
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
	out.Name(name)
	out.Begin()
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
	out.Name("CapacityUnits")
	out.Float(n.read + n.write)
	if !n.transact {
		return
	}
	if n.read > 0 {
		out.Name("ReadCapacityUnits")
		out.Float(n.read)
	}
	if n.write > 0 {
		out.Name("WriteCapacityUnits")
		out.Float(n.write)
	}
}
