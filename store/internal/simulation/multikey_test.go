package simulation_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// multiModel is the expected content of a table with one index of many attributes.
type multiModel struct {
	key   store.KeySpec
	items map[string]attr.Item // by id
}

// TestMultiKeyProperty draws a key of up to four and four attributes, writes items with or without them, and reads the index with
// conditions on a prefix of its sort key.
func TestMultiKeyProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := multiModel{key: drawMultiKey(rt), items: map[string]attr.Item{}}
		index := store.IndexSpec{Name: "many", Key: m.key}
		table := store.TableSpec{Name: "tab", Key: store.KeySpec{Partition: storetest.Str("id")}}
		late := rapid.Bool().Draw(rt, "the index comes late")
		if !late {
			table.Indexes = []store.IndexSpec{index}
		}
		s := storetest.Open(t, table)
		for range rapid.IntRange(0, 25).Draw(rt, "writes") {
			m.write(rt, s, late)
		}
		if late {
			if err := s.UpdateTable(t.Context(), store.TableChange{Table: "tab", AddIndexes: []store.IndexSpec{index}}); err != nil {
				rt.Fatal(err)
			}
			m.write(rt, s, false)
		}
		for range 4 {
			m.query(rt, s)
		}
		m.scan(rt, s)
		storetest.Check(t, s)
		if err := s.DropTable(t.Context(), "tab"); err != nil {
			rt.Fatal(err)
		}
	})
}

func drawMultiKey(rt *rapid.T) store.KeySpec {
	part := func(prefix string, least int) (out []store.KeyAttr) {
		for i := range rapid.IntRange(least, 4).Draw(rt, prefix) {
			kind := rapid.SampledFrom([]store.KeyType{store.KeyString, store.KeyNumber, store.KeyBinary}).Draw(rt, "type")
			out = append(out, store.KeyAttr{Name: fmt.Sprintf("%s%d", prefix, i), Type: kind})
		}
		return out
	}
	return store.NewKeySpec(part("h", 1), part("r", 0))
}

// drawKeyValue draws one of a few values, so that keys coincide, including values whose bytes could run into the next attribute's.
func drawKeyValue(rt *rapid.T, a store.KeyAttr) attr.Value {
	if a.Type == store.KeyNumber {
		return attr.Int(rapid.SampledFrom([]int64{1, 1, 1, 1, -10, -1, 0, 2, 10}).Draw(rt, a.Name))
	}
	text := rapid.SampledFrom([]string{"a", "a", "a", "a", "a\x00", "a\x00b", "ab", "\x00", "\x00\x01"}).Draw(rt, a.Name)
	if a.Type == store.KeyBinary {
		return attr.B([]byte(text + "\xff"))
	}
	return attr.S(text)
}

// write is a put, an update, a delete, or a put in a batch or transaction. Before the index exists, an item may have any value in its
// attributes; afterwards invalid ones are refused.
func (m *multiModel) write(rt *rapid.T, s *store.Store, anything bool) {
	id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7", "8"}).Draw(rt, "id")
	it := attr.Item{"id": attr.S(id)}
	wrong := false
	for _, a := range m.key.Attrs() {
		switch rapid.IntRange(0, 15).Draw(rt, "has "+a.Name) {
		case 0:
		case 1:
			it[a.Name], wrong = attr.Bool(true), true
		default:
			it[a.Name] = drawKeyValue(rt, a)
		}
	}
	kind := rapid.SampledFrom([]string{"put", "update", "delete", "batch", "transaction"}).Draw(rt, "write")
	err := s.Update(rt.Context(), func(tx *store.Tx) (err error) {
		switch kind {
		case "put":
			_, err = tx.Put(store.PutItem{Table: "tab", Item: it})
		case "update":
			_, err = tx.Update(setAll(it, m.items[id]))
		case "delete":
			_, err = tx.Delete(store.DeleteItem{Table: "tab", Key: storetest.Item("id", id)})
		case "batch":
			err = tx.BatchWrite(store.BatchWrite{"tab": {{Put: it}}})
		case "transaction":
			err = tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Put: &store.PutItem{Table: "tab", Item: it}}}})
		}
		return err
	})
	if wrong && !anything && kind != "delete" {
		if err == nil {
			rt.Fatalf("%s of %s was not refused", kind, storetest.Show(it))
		}
		return
	}
	if err != nil {
		rt.Fatalf("%s of %s: %v", kind, storetest.Show(it), err)
	}
	if kind == "delete" {
		delete(m.items, id)
	} else {
		m.items[id] = it
	}
}

// setAll returns the update that turns one item into another.
func setAll(it, old attr.Item) store.UpdateItem {
	u := setAllOf("tab", "id", it)
	var removes []string
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if it[name].IsZero() {
			removes = append(removes, name)
		}
	}
	if len(removes) > 0 {
		u.Update += " REMOVE " + strings.Join(removes, ", ")
	}
	return u
}

// shown returns the items in the index for which in holds, in its order.
func (m *multiModel) shown(in func(attr.Item) bool) (out []attr.Item) {
	for _, it := range m.items {
		complete := true
		for _, a := range m.key.Attrs() {
			complete = complete && string(rune(a.Type)) == it[a.Name].Kind().String()
		}
		if complete && in(it) {
			out = append(out, it)
		}
	}
	sorts := append(m.key.SortAttrs(), storetest.Str("id"))
	slices.SortFunc(out, func(a, b attr.Item) int {
		for _, s := range sorts {
			if c := compareKey(a[s.Name], b[s.Name]); c != 0 {
				return c
			}
		}
		return 0
	})
	return out
}

func compareKey(a, b attr.Value) int {
	switch a.Kind() {
	case attr.KindN:
		x, _ := a.Int()
		y, _ := b.Int()
		return cmp.Compare(x, y)
	case attr.KindB:
		return bytes.Compare(a.Bytes(), b.Bytes())
	}
	return strings.Compare(a.Str(), b.Str())
}

// query draws a condition, and reads page after page.
func (m *multiModel) query(rt *rapid.T, s *store.Store) {
	var conditions []string
	var holds []func(attr.Item) bool
	values, like := attr.Item{}, attr.Item{}
	if all := m.shown(func(attr.Item) bool { return true }); len(all) > 0 {
		like = rapid.SampledFrom(all).Draw(rt, "like")
	}
	add := func(a store.KeyAttr, op string) {
		v, w := drawKeyValue(rt, a), drawKeyValue(rt, a)
		if op == "=" && !like[a.Name].IsZero() {
			v = like[a.Name]
		}
		if op == "BETWEEN" && compareKey(v, w) > 0 {
			v, w = w, v
		}
		values[":"+a.Name] = v
		text := fmt.Sprintf("%s %s :%s", a.Name, op, a.Name)
		switch op {
		case "BETWEEN":
			values[":to"], text = w, text+" AND :to"
		case "begins_with":
			text = fmt.Sprintf("begins_with(%s, :%s)", a.Name, a.Name)
		}
		conditions = append(conditions, text)
		holds = append(holds, func(it attr.Item) bool { return opHolds(op, it[a.Name], v, w) })
	}
	for _, a := range m.key.PartitionAttrs() {
		add(a, "=")
	}
	sorts := m.key.SortAttrs()
	n := rapid.IntRange(0, len(sorts)).Draw(rt, "conditions on the sort key")
	for i, a := range sorts[:n] {
		if i < n-1 {
			add(a, "=")
			continue
		}
		ops := []string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}
		if a.Type == store.KeyNumber {
			ops = ops[:len(ops)-1]
		}
		add(a, rapid.SampledFrom(ops).Draw(rt, "operator"))
	}
	want := m.shown(func(it attr.Item) bool {
		return !slices.ContainsFunc(holds, func(holds func(attr.Item) bool) bool { return !holds(it) })
	})
	q := store.Query{
		Table: "tab", Index: "many", KeyCondition: strings.Join(rapid.Permutation(conditions).Draw(rt, "order"), " AND "),
		Params: expr.Params{Values: values}, Limit: rapid.IntRange(0, 3).Draw(rt, "limit"), Descending: rapid.Bool().Draw(rt, "descending"),
	}
	if q.Descending {
		slices.Reverse(want)
	}
	got := pages(rt, s, func(tx *store.Tx, start attr.Item) (store.Page, error) {
		q.StartKey = start
		return tx.Query(q)
	})
	if !slices.EqualFunc(got, want, storetest.SameItem) {
		rt.Fatalf("%s, %s: got %v, want %v", q.KeyCondition, storetest.Show(values), got, want)
	}
}

func opHolds(op string, v, low, high attr.Value) bool {
	switch c := compareKey(v, low); op {
	case "=":
		return c == 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "BETWEEN":
		return c >= 0 && compareKey(v, high) <= 0
	}
	if v.Kind() == attr.KindB {
		return bytes.HasPrefix(v.Bytes(), low.Bytes())
	}
	return strings.HasPrefix(v.Str(), low.Str())
}

// pages joins all pages. Each start key has the attributes of both keys.
func pages(rt *rapid.T, s *store.Store, page func(*store.Tx, attr.Item) (store.Page, error)) (items []attr.Item) {
	err := s.View(rt.Context(), func(tx *store.Tx) error {
		for start := attr.Item(nil); ; {
			p, err := page(tx, start)
			if err != nil {
				return err
			}
			items = append(items, p.Items...)
			if start = p.LastKey; start == nil {
				return nil
			}
		}
	})
	if err != nil {
		rt.Fatal(err)
	}
	return items
}

// scan reads the index in segments.
func (m *multiModel) scan(rt *rapid.T, s *store.Store) {
	segments := rapid.IntRange(1, 3).Draw(rt, "segments")
	seen := map[string]int{}
	for i := range segments {
		for _, it := range pages(rt, s, func(tx *store.Tx, start attr.Item) (store.Page, error) {
			return tx.Scan(store.Scan{Table: "tab", Index: "many", Limit: 2, StartKey: start, Segment: i, TotalSegments: segments})
		}) {
			seen[it["id"].Str()]++
		}
	}
	want := m.shown(func(attr.Item) bool { return true })
	for _, it := range want {
		if seen[it["id"].Str()] != 1 {
			rt.Fatalf("%s was read %d times", storetest.Show(it), seen[it["id"].Str()])
		}
	}
	if len(seen) != len(want) {
		rt.Fatalf("got %v, want %v", seen, want)
	}
}

// manyKey is the key of the index of many tests below.
func manyKey() store.KeySpec {
	return store.NewKeySpec(storetest.Attrs(storetest.Str("h1"), storetest.Str("h2")), storetest.Attrs(storetest.Str("r1"), storetest.Num("r2"), store.KeyAttr{Name: "r3", Type: store.KeyBinary}))
}

func manyTable() store.TableSpec {
	return store.TableSpec{
		Name: "tab", Key: store.KeySpec{Partition: storetest.Str("p")}, Indexes: []store.IndexSpec{
			{Name: "many", Key: manyKey(), Projection: store.ProjectKeysOnly},
		},
	}
}

func TestMultiKeyItemRefused(t *testing.T) {
	s := storetest.Open(t, manyTable())
	const size = "Aggregate size for %s key attributes %s of index many has exceeded limit %d bytes, with actual size %d bytes"
	for _, c := range []struct {
		name string
		it   attr.Item
		want string
	}{
		{"another type", storetest.Item("h2", 1), "Type mismatch for Index Key h2 Expected: S Actual: N IndexName: many"},
		{"another type of the third", storetest.Item("r3", "text"), "Type mismatch for Index Key r3 Expected: B Actual: S IndexName: many"},
		{"empty text", storetest.Item("h2", ""), "cannot contain an empty string value. IndexName: many, IndexKey: h2"},
		{"empty bytes", storetest.Item("r3", attr.B(nil)), "cannot contain an empty binary value. IndexName: many, IndexKey: r3"},
		{"a partition key that fits", storetest.Item("h1", strings.Repeat("h", 2047), "h2", "h"), ""},
		{"partition key", storetest.Item("h1", strings.Repeat("h", 1500), "h2", strings.Repeat("h", 600)),
			fmt.Sprintf(size, "HASH", "h1, h2", 2048, 2100)},
		{"partition key of what there is", storetest.Item("h2", strings.Repeat("h", 2049)), fmt.Sprintf(size, "HASH", "h2", 2048, 2049)},
		{"a sort key that fits", storetest.Item("r1", strings.Repeat("r", 1021), "r2", 1, "r3", attr.B([]byte("b"))), ""},
		{"sort key", storetest.Item("r1", strings.Repeat("r", 1024), "r2", 1, "r3", attr.B([]byte("b"))),
			fmt.Sprintf(size, "RANGE", "r1, r2, r3", 1024, 1027)},
	} {
		c.it["p"] = attr.S(c.name)
		for _, write := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: "tab", Item: c.it}); return err },
			func(tx *store.Tx) error { _, err := tx.Update(setAllOf("tab", "p", c.it)); return err },
			func(tx *store.Tx) error { return tx.BatchWrite(store.BatchWrite{"tab": {{Put: c.it}}}) },
		} {
			err := s.Update(t.Context(), write)
			if c.want == "" && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if c.want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "attempted to update")) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		}
	}
}

func setAllOf(table, key string, it attr.Item) store.UpdateItem {
	u := store.UpdateItem{Table: table, Key: attr.Item{key: it[key]}, Params: expr.Params{Values: attr.Item{}}}
	var sets []string
	for _, name := range slices.Sorted(maps.Keys(it)) {
		if name != key {
			sets = append(sets, name+" = :"+name)
			u.Values[":"+name] = it[name]
		}
	}
	if len(sets) > 0 {
		u.Update = "SET " + strings.Join(sets, ", ")
	}
	return u
}

// A backup includes the entries of an index with several attributes in a part of its key, and a restored store maintains them.
func TestMultiKeyBackup(t *testing.T) {
	s := storetest.Open(t, manyTable())
	for i := range 40 {
		it := storetest.Item("p", fmt.Sprint(i), "h1", "a", "h2", fmt.Sprint(i%2), "r1", "x", "r2", 40-i, "r3", attr.B([]byte{byte(i)}))
		if i%5 == 0 {
			delete(it, "r2")
		}
		storetest.Put(t, s, "tab", it)
	}
	query := func(s *store.Store) (items []attr.Item) {
		storetest.View(t, s, func(tx *store.Tx) error {
			page, err := tx.Query(store.Query{
				Table: "tab", Index: "many", KeyCondition: "h1 = :a AND h2 = :one AND r1 = :x AND r2 > :n",
				Params: storetest.Values(":a", "a", ":one", "1", ":x", "x", ":n", 7),
			})
			items = page.Items
			return err
		})
		return items
	}
	want := query(s)
	if len(want) != 13 {
		t.Fatalf("%d items", len(want))
	}
	r, _ := restored(t, backedUp(t, s).Path)
	wantSame(t, "restored", query(r), want)
	if got := describe(t, r, "tab").Spec.Indexes; !reflect.DeepEqual(got, manyTable().Indexes) {
		t.Errorf("restored: %+v", got)
	}
	storetest.Put(t, r, "tab", storetest.Item("p", "new", "h1", "a", "h2", "1", "r1", "x", "r2", 100, "r3", attr.B([]byte("b"))))
	if got := query(r); len(got) != len(want)+1 {
		t.Errorf("%d items after a write", len(got))
	}
	storetest.Check(t, r)
}
