package store_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// tableModel is the expected state of a table: items by key, and the indexes, filled or not.
type tableModel struct {
	items   map[int64]attr.Item
	indexes map[string]store.IndexSpec
}

func (m tableModel) clone() tableModel {
	return tableModel{items: maps.Clone(m.items), indexes: maps.Clone(m.indexes)}
}

// refuses reports whether an item has a value that cannot be a key of an index.
func (m tableModel) refuses(it attr.Item) bool {
	for _, ix := range m.indexes {
		for _, a := range ix.Key.Attrs() {
			if v, ok := it[a.Name]; ok && !isKey(v, a) {
				return true
			}
		}
	}
	return false
}

func isKey(v attr.Value, a store.KeyAttr) bool {
	if a.Type == store.KeyNumber {
		return v.Kind() == attr.KindN
	}
	return v.Kind() == attr.KindS && v.Str() != ""
}

// in returns the keys of the items that an index should show.
func (m tableModel) in(ix store.IndexSpec, now time.Time) (keys []int64) {
	for id, it := range m.items {
		shown := true
		for _, a := range ix.Key.Attrs() {
			v, ok := it[a.Name]
			shown = shown && ok && isKey(v, a)
		}
		if shown && !past(it, now) {
			keys = append(keys, id)
		}
	}
	slices.Sort(keys)
	return keys
}

func past(it attr.Item, now time.Time) bool {
	ttl, ok := it["ttl"].Int()
	return ok && ttl < now.Unix()
}

// tableSimulation runs random operations on a store whose tables come and go, and on a plain model.
type tableSimulation struct {
	t       *testing.T
	path    string
	now     time.Time
	s       *store.Store
	tables  map[string]tableModel
	records []store.Record
	streams []simStream
}

// TestTableSimulation creates and drops tables and indexes between random writes, with housekeeping half done and the file closed at any
// moment.
func TestTableSimulation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sim := &tableSimulation{
			t: t, path: filepath.Join(t.TempDir(), "s.db"), now: time.Unix(1_563_096_600, 0), tables: map[string]tableModel{},
		}
		sim.open(rt)
		defer func() { _ = sim.s.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"create":     sim.create,
			"drop":       sim.drop,
			"add index":  sim.addIndex,
			"drop index": sim.dropIndex,
			"write":      sim.write,
			"more":       sim.write,
			"stream":     sim.stream,
			"housekeep":  sim.housekeep,
			"reopen": func(rt *rapid.T) {
				if err := sim.s.Close(); err != nil {
					rt.Fatal(err)
				}
				sim.open(rt)
			},
			"time": func(rt *rapid.T) {
				sim.now = sim.now.Add(time.Duration(rapid.IntRange(1, 700).Draw(rt, "s")) * time.Second)
			},
			"": sim.invariants,
		})
		for more := true; more; {
			var err error
			if more, err = sim.s.Housekeep(t.Context()); err != nil {
				rt.Fatal(err)
			}
			sim.learnSwept(rt)
		}
		sim.invariants(rt)
	})
}

func (sim *tableSimulation) open(rt *rapid.T) {
	s, err := store.Open(sim.path, store.Options{
		NoSync: true, JournalBytes: 600, Now: func() time.Time { return sim.now },
	})
	if err != nil {
		rt.Fatal(err)
	}
	s.SmallSlices(3)
	sim.s = s
}

func drawTable(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "table")
}

func drawIndex(rt *rapid.T) store.IndexSpec {
	return rapid.SampledFrom([]store.IndexSpec{
		{Name: "by-a", Key: store.KeySpec{Partition: storetest.Str("a")}},
		{Name: "by-b", Key: store.KeySpec{Partition: storetest.Num("b"), Sort: storetest.Str("a")}},
		{Name: "by-c", Key: store.KeySpec{Partition: storetest.Str("c"), Sort: storetest.Num("id")}},
		{Name: "by-ab-c", Key: store.NewKeySpec(storetest.Attrs(storetest.Str("a"), storetest.Num("b")), storetest.Attrs(storetest.Str("c"), storetest.Num("id")))},
		{Name: "by-c-ba", Key: store.NewKeySpec(storetest.Attrs(storetest.Str("c")), storetest.Attrs(storetest.Num("b"), storetest.Str("a")))},
	}).Draw(rt, "index")
}

func (sim *tableSimulation) create(rt *rapid.T) {
	name := drawTable(rt)
	spec := store.TableSpec{Name: name, Key: store.KeySpec{Partition: storetest.Num("id")}, TTL: "ttl"}
	m := tableModel{items: map[int64]attr.Item{}, indexes: map[string]store.IndexSpec{}}
	if rapid.Bool().Draw(rt, "with index") {
		ix := drawIndex(rt)
		spec.Indexes, m.indexes[ix.Name] = []store.IndexSpec{ix}, ix
	}
	err := sim.s.CreateTable(sim.t.Context(), spec, store.TableSettings{})
	if _, there := sim.tables[name]; there {
		if !fault.Is(err, fault.Conflict) {
			rt.Fatalf("created again: %v", err)
		}
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	sim.tables[name] = m
}

func (sim *tableSimulation) drop(rt *rapid.T) {
	name := drawTable(rt)
	sim.want(rt, name, sim.s.DropTable(sim.t.Context(), name))
	delete(sim.tables, name)
	sim.setStream(name, "")
}

// want expects an error if the table does not exist.
func (sim *tableSimulation) want(rt *rapid.T, name string, err error) (there bool) {
	_, there = sim.tables[name]
	if there && err != nil || !there && !fault.Is(err, fault.NotFound) {
		rt.Fatalf("table %s there: %v: %v", name, there, err)
	}
	return there
}

func (sim *tableSimulation) addIndex(rt *rapid.T) {
	name, ix := drawTable(rt), drawIndex(rt)
	m := sim.tables[name]
	if _, there := m.indexes[ix.Name]; there {
		return
	}
	c := store.TableChange{Table: name, AddIndexes: []store.IndexSpec{ix}}
	if sim.want(rt, name, sim.s.UpdateTable(sim.t.Context(), c)) {
		m.indexes[ix.Name] = ix
	}
}

func (sim *tableSimulation) dropIndex(rt *rapid.T) {
	name := drawTable(rt)
	m := sim.tables[name]
	if len(m.indexes) == 0 {
		return
	}
	ix := rapid.SampledFrom(slices.Sorted(maps.Keys(m.indexes))).Draw(rt, "index")
	sim.want(rt, name, sim.s.UpdateTable(sim.t.Context(), store.TableChange{Table: name, DropIndexes: []string{ix}}))
	delete(m.indexes, ix)
}

func (sim *tableSimulation) drawItem(rt *rapid.T) attr.Item {
	it := storetest.Item("id", rapid.IntRange(0, 15).Draw(rt, "id"), "n", rapid.IntRange(0, 1000).Draw(rt, "n"))
	for _, name := range []string{"a", "b", "c"} {
		switch rapid.IntRange(0, 5).Draw(rt, name) {
		case 0, 1:
			it[name] = attr.S(rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "text"))
		case 2, 3:
			it[name] = attr.Int(rapid.Int64Range(0, 2).Draw(rt, "number"))
		case 4:
			it[name] = attr.S("")
		}
	}
	if rapid.IntRange(0, 2).Draw(rt, "has ttl") == 0 {
		it["ttl"] = attr.Int(sim.now.Unix() + rapid.Int64Range(-100, 1000).Draw(rt, "ttl"))
	}
	return it
}

// write runs a few writes in one transaction; one in four fails at its end and must leave nothing.
func (sim *tableSimulation) write(rt *rapid.T) {
	next := map[string]tableModel{}
	for name, m := range sim.tables {
		next[name] = m.clone()
	}
	records := slices.Clone(sim.records)
	fails := rapid.IntRange(0, 3).Draw(rt, "fails") == 0
	err := sim.s.Update(sim.t.Context(), func(tx *store.Tx) error {
		for range rapid.IntRange(1, 6).Draw(rt, "writes") {
			name := drawTable(rt)
			m, there := next[name]
			r, err := sim.writeOne(rt, tx, name, m)
			switch {
			case !there && !fault.Is(err, fault.NotFound):
				rt.Fatalf("a write to table %s: %v", name, err)
			case r.Op != 0:
				records = append(records, r)
			}
		}
		if fails {
			return errMember
		}
		return nil
	})
	if fails != errors.Is(err, errMember) || (err != nil) != fails {
		rt.Fatalf("fails %v: %v", fails, err)
	}
	if !fails {
		sim.tables, sim.records = next, records
	}
}

// writeOne makes one write and records it in the model of its table; the record is zero if there is none.
func (sim *tableSimulation) writeOne(rt *rapid.T, tx *store.Tx, name string, m tableModel) (store.Record, error) {
	it := sim.drawItem(rt)
	id, _ := it["id"].Int()
	had := m.items[id]
	if rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
		_, err := tx.Delete(store.DeleteItem{Table: name, Key: storetest.Item("id", int(id))})
		if err != nil || had == nil {
			return store.Record{}, err
		}
		delete(m.items, id)
		return store.Record{Table: name, Op: store.OpDelete, Old: had}, nil
	}
	_, err := tx.Put(store.PutItem{Table: name, Item: it})
	if m.items != nil && m.refuses(it) != fault.Is(err, fault.Invalid) {
		rt.Fatalf("put of %s: %v", storetest.Show(it), err)
	}
	if err != nil {
		return store.Record{}, err
	}
	m.items[id] = it
	return store.Record{Table: name, Op: store.OpPut, Old: had, New: it}, nil
}

func (sim *tableSimulation) housekeep(rt *rapid.T) {
	for range rapid.IntRange(1, 8).Draw(rt, "slices") {
		if _, err := sim.s.Housekeep(sim.t.Context()); err != nil {
			rt.Fatal(err)
		}
		sim.learnSwept(rt) // before it is trimmed
	}
}

// learnSwept updates the model with what was swept: deletes of expired items, and nothing else.
func (sim *tableSimulation) learnSwept(rt *rapid.T) {
	for _, r := range sim.read(rt, 1<<40+uint64(len(sim.records))) {
		m := sim.tables[r.Table]
		id, _ := r.Key["id"].Int()
		had := m.items[id]
		if r.Op != store.OpDelete || r.Origin != store.OriginTTL || had == nil || !past(had, sim.now) {
			rt.Fatalf("housekeeping made a %v by %q of %s", r.Op, r.Origin, storetest.Show(had))
		}
		sim.records = append(sim.records, store.Record{Table: r.Table, Op: r.Op, Old: had})
		delete(m.items, id)
	}
}

func (sim *tableSimulation) read(rt *rapid.T, after uint64) []store.Record {
	records, err := sim.s.Journal(sim.t.Context(), after, 1<<20)
	if err != nil {
		rt.Fatal(err)
	}
	return records
}

func (sim *tableSimulation) invariants(rt *rapid.T) {
	problems, err := sim.s.CheckCopy(sim.t.Context(), nil)
	if err != nil || len(problems) > 0 {
		rt.Fatalf("check: %v, %v", problems, err)
	}
	for _, r := range sim.read(rt, 0) {
		want := sim.records[r.Seq-1<<40-1]
		if r.Table != want.Table || r.Op != want.Op || !storetest.SameItem(r.Old, want.Old) || !storetest.SameItem(r.New, want.New) {
			rt.Fatalf("record %d: %s %v %s %s, want %s %v %s %s", r.Seq-1<<40, r.Table, r.Op, storetest.Show(r.Old), storetest.Show(r.New),
				want.Table, want.Op, storetest.Show(want.Old), storetest.Show(want.New))
		}
	}
	if got := len(sim.s.Tables()); got != len(sim.tables) {
		rt.Fatalf("%d tables, want %d", got, len(sim.tables))
	}
	for name, m := range sim.tables {
		sim.compare(rt, name, "", m.in(store.IndexSpec{Key: store.KeySpec{Partition: storetest.Num("id")}}, sim.now))
		for _, ix := range m.indexes {
			if st := indexStatus(sim.t, sim.s, name, ix.Name); st == store.IndexActive {
				sim.compare(rt, name, ix.Name, m.in(ix, sim.now))
			}
		}
	}
	sim.checkStreams(rt)
	storetest.Check(sim.t, sim.s)
}

// compare scans a table or an index.
func (sim *tableSimulation) compare(rt *rapid.T, table, index string, want []int64) {
	var got []int64
	err := sim.s.View(sim.t.Context(), func(tx *store.Tx) error {
		p, err := tx.Scan(store.Scan{Table: table, Index: index})
		for _, it := range p.Items {
			id, _ := it["id"].Int()
			got = append(got, id)
			if !storetest.SameItem(it, sim.tables[table].items[id]) {
				return fmt.Errorf("got %s, want %s", storetest.Show(it), storetest.Show(sim.tables[table].items[id]))
			}
		}
		return err
	})
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		rt.Fatalf("table %s, index %q: %v, want %v; %v", table, index, got, want, err)
	}
}
