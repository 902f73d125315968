package dynamoapi

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// billed returns a table of a, with a local index of c that projects everything, a global one of g that projects its key, and a global
// one of h that projects x too.
func billed() *store.TableSpec {
	s := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	return &store.TableSpec{Name: "tab", Key: store.KeySpec{Partition: s("a"), Sort: s("b")}, Indexes: []store.IndexSpec{
		{Name: "local", Local: true, Key: store.KeySpec{Partition: s("a"), Sort: s("c")}},
		{Name: "keys", Key: store.KeySpec{Partition: s("g")}, Projection: store.ProjectKeysOnly},
		{Name: "some", Key: store.KeySpec{Partition: s("h")}, Projection: store.ProjectInclude, Include: []string{"x"}},
	}}
}

// item returns an item of the key k and "name=value" pairs; a value "*1000" is a text of that many bytes.
func item(pairs ...string) attr.Item {
	it := attr.Item{"a": attr.S("k"), "b": attr.S("k")}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		if n, ok := strings.CutPrefix(value, "*"); ok {
			value = strings.Repeat("x", map[string]int{"1000": 1000, "1100": 1100, "3000": 3000}[n])
		}
		it[name] = attr.S(value)
	}
	return it
}

func TestWriteUnits(t *testing.T) {
	for _, c := range []struct {
		name                   string
		old, now               attr.Item
		own, local, keys, some float64
	}{
		{"nothing is deleted", nil, nil, 1, 0, 0, 0},
		{"a put in no index", nil, item(), 1, 0, 0, 0},
		{"a put in all", nil, item("c=1", "g=1", "h=1"), 1, 1, 1, 1},
		{"the same again", item("c=1", "g=1", "h=1"), item("c=1", "g=1", "h=1"), 1, 0, 0, 0},
		{"all keys change", item("c=1", "g=1", "h=1"), item("c=2", "g=2", "h=2"), 1, 2, 2, 2},
		{"what not all show changes", item("c=1", "g=1", "h=1"), item("c=1", "g=1", "h=1", "y=1"), 1, 1, 0, 0},
		{"what some show changes", item("g=1", "h=1", "x=1"), item("g=1", "h=1", "x=2"), 1, 0, 0, 1},
		{"it leaves the indexes", item("c=1", "g=1", "h=1"), item(), 1, 1, 1, 1},
		{"it is deleted", item("c=1", "g=1", "h=1"), nil, 1, 1, 1, 1},
		{"the larger one counts", item("y=*3000"), item(), 3, 0, 0, 0},
		{"an entry is as large as what it shows", nil, item("c=1", "g=1", "h=1", "y=*3000"), 3, 3, 1, 1},
		{"a move is a delete and a put", item("h=1", "x=*1100"), item("h=2", "x=*3000"), 3, 0, 0, 5},
		{"the larger entry counts", item("h=1", "x=*1100"), item("h=1", "x=*1000"), 2, 0, 0, 2},
	} {
		for times, transact := range map[float64]bool{1: false, 2: true} {
			u := newConsumption(wire.Opt[string]{V: "INDEXES", Set: true})
			inStore(t, c.old, c.now, func(tx *store.Tx) { u.watch(tx, transact) })
			got := u.tables["tab"]
			for index, want := range map[string]float64{"local": c.local, "keys": c.keys, "some": c.some} {
				parts := got.global
				if index == "local" {
					parts = got.local
				}
				n := 0.0
				if parts[index] != nil {
					n = parts[index].write
				}
				if n != times*want || (want == 0) != (parts[index] == nil) {
					t.Errorf("%s, transaction %v: %v units of index %s, want %v", c.name, transact, n, index, times*want)
				}
			}
			if got.own.write != times*c.own || got.total.write != times*(c.own+c.local+c.keys+c.some) {
				t.Errorf("%s, transaction %v: %v units, %v in all", c.name, transact, got.own.write, got.total.write)
			}
		}
	}
}

// inStore puts an item into the billed table, then replaces or deletes it; watch is called in between.
func inStore(t *testing.T, old, now attr.Item, watch func(*store.Tx)) {
	t.Helper()
	s := storetest.Open(t)
	spec := *billed()
	spec.Policy, spec.Why = store.PolicyLocal, "a test's"
	if err := s.CreateTable(t.Context(), spec, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
		if old != nil {
			_, err = tx.Put(store.PutItem{Table: "tab", Item: old})
		}
		if err != nil {
			return err
		}
		watch(tx)
		if now != nil {
			_, err = tx.Put(store.PutItem{Table: "tab", Item: now})
			return err
		}
		key := item()
		_, err = tx.Delete(store.DeleteItem{Table: "tab", Key: key})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadUnits(t *testing.T) {
	for _, c := range []struct {
		bytes                int
		consistent, transact bool
		want                 float64
	}{
		{0, false, false, 0.5}, {0, true, false, 1}, {0, true, true, 2}, {4096, false, false, 0.5}, {4097, false, false, 1},
		{4096, true, false, 1}, {4097, true, false, 2}, {4097, true, true, 4}, {1 << 20, false, false, 128},
	} {
		u := newConsumption(wire.Opt[string]{V: "TOTAL", Set: true})
		u.read("tab", nil, c.bytes, c.consistent, c.transact)
		if got := u.tables["tab"].total.read; got != c.want {
			t.Errorf("%d bytes, consistent %v, transaction %v: %v units, want %v", c.bytes, c.consistent, c.transact, got, c.want)
		}
	}
}

func TestConsumedCapacityIsWritten(t *testing.T) {
	count := func(mode string, transact bool) string {
		out := wire.NewEncoder(nil)
		out.Begin()
		u := newConsumption(wire.Opt[string]{V: mode, Set: true})
		u.read("tab", nil, 5000, true, transact)
		u.read("tab", indexOf(billed(), "local"), 10, false, transact)
		u.countWrite(store.Touch{Table: "tab", Op: store.OpPut, New: 9, Indexes: []store.IndexTouch{{Index: "keys", New: 7}}}, transact)
		if transact {
			u.all(out)
		} else {
			u.one(out)
		}
		out.End()
		return string(out.Bytes())
	}
	for _, c := range []struct {
		mode     string
		transact bool
		want     string
	}{
		{"NONE", false, `{}`},
		{"TOTAL", false, `{"ConsumedCapacity":{"CapacityUnits":4.5,"TableName":"tab"}}`},
		{"INDEXES", false, `{"ConsumedCapacity":{"CapacityUnits":4.5,"TableName":"tab","Table":{"CapacityUnits":3.0},` +
			`"LocalSecondaryIndexes":{"local":{"CapacityUnits":0.5}},"GlobalSecondaryIndexes":{"keys":{"CapacityUnits":1.0}}}}`},
		{"TOTAL", true, `{"ConsumedCapacity":[{"CapacityUnits":10.0,"ReadCapacityUnits":6.0,"WriteCapacityUnits":4.0,"TableName":"tab"}]}`},
	} {
		if got := count(c.mode, c.transact); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.mode, got, c.want)
		}
	}
}

// TestLargeTableIsNotCountedEachTime: a clock that advances by a second at each reading makes every count slow.
func TestLargeTableIsNotCountedEachTime(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: store.KeyString}}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true},
		store.TableSpec{Name: "tab", Key: key, Policy: store.PolicyLocal, Why: "a test's"})
	a := New(Config{Store: s, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	c := &call{Context: t.Context(), api: a}
	items := func() int64 {
		d, err := s.Describe("tab")
		if err != nil {
			t.Fatal(err)
		}
		counts, err := c.size(d)
		if err != nil {
			t.Fatal(err)
		}
		return counts.Items
	}
	put := func(n int) {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "tab", Item: attr.Item{"a": attr.S(fmt.Sprint(n))}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	if n := items(); n != 1 {
		t.Errorf("%d items", n)
	}
	put(2)
	if n := items(); n != 1 {
		t.Errorf("%d items: counted again at once", n)
	}
	now = now.Add(100 * time.Second)
	if n := items(); n != 2 {
		t.Errorf("%d items after its time", n)
	}
}
