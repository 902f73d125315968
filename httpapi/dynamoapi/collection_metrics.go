package dynamoapi

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// collections notes the item collections that a request wrote to: the items of a partition, in tables with local indexes.
// A nil one notes nothing and writes nothing: they were not asked for.
type collections struct {
	tables map[string][]attr.Value // the partition keys, by the names of the tables
	key    map[string]string       // the name of the partition key of each
}

// newCollections starts the list for ReturnItemCollectionMetrics; nil for NONE and where it is absent.
func newCollections(mode wire.Opt[string]) *collections {
	if mode.V != "SIZE" {
		return nil
	}
	return &collections{tables: map[string][]attr.Value{}, key: map[string]string{}}
}

// wrote notes the collection of an item, given by its key or as a whole.
func (m *collections) wrote(spec *store.TableSpec, it attr.Item) {
	if m == nil || !slices.ContainsFunc(spec.Indexes, func(ix store.IndexSpec) bool { return ix.Local }) {
		return
	}
	name := spec.Key.Partition.Name
	m.key[spec.Name] = name
	if !slices.ContainsFunc(m.tables[spec.Name], it[name].Equal) {
		m.tables[spec.Name] = append(m.tables[spec.Name], it[name])
	}
}

// one writes the member ItemCollectionMetrics of a request about one item, if it has a collection.
func (m *collections) one(out *wire.Encoder) {
	if m == nil {
		return
	}
	for table, values := range m.tables {
		out.Name("ItemCollectionMetrics")
		m.write(out, table, values[0])
	}
}

// all writes the member ItemCollectionMetrics of a request about any items, if one of them has a collection.
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

// write writes the estimate of a collection's size. It is always the smallest one: nothing here ends a collection at
// 10 GB, and to measure one would be to read it.
func (m *collections) write(out *wire.Encoder, table string, v attr.Value) {
	out.Begin()
	named(out, "ItemCollectionKey", attr.Item{m.key[table]: v})
	out.NamedArray("SizeEstimateRangeGB")
	out.Float(0)
	out.Float(1)
	out.EndArray()
	out.End()
}
