package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica/remote"
)

const tableName = "ours"

// The plan has the distribution of the mix, and items with several updates get them in order.
func TestPlan(t *testing.T) {
	t.Parallel()
	kinds, last := map[store.Op]int{}, map[int]int{}
	several := 0
	for _, w := range plan(mix{updates: 70, creates: 20}, 10_000) {
		kinds[w.op]++
		if w.turn != 0 && w.turn != last[w.id]+1 {
			t.Fatalf("item %d: write %d behind %d", w.id, w.turn, last[w.id])
		}
		if w.turn == 0 && last[w.id] != 0 {
			t.Fatalf("item %d has %d others", w.id, last[w.id])
		}
		if last[w.id] = w.turn; w.turn > 0 {
			several++
		}
	}
	if kinds[store.OpUpdate] != 7000 || kinds[store.OpPut] != 2000 || kinds[store.OpDelete] != 1000 || several != 1400 {
		t.Errorf("%v, %d of them in turn", kinds, several)
	}
}

// Every item that is not as it was written, or differs between the sides, is reported.
func TestCheck(t *testing.T) {
	t.Parallel()
	asked := plan(mix{updates: 70, creates: 20}, 1000)
	pick := func(so func(write) bool) (string, attr.Item) {
		w := asked[slices.IndexFunc(asked, so)]
		return keyOf(w.id)["pk"].Str(), keyOf(w.id)
	}
	several, _ := pick(func(w write) bool { return w.turn > 1 })
	updated, _ := pick(func(w write) bool { return w.op == store.OpUpdate && w.turn == 0 })
	created, _ := pick(func(w write) bool { return w.op == store.OpPut })
	deleted, deletedKey := pick(func(w write) bool { return w.op == store.OpDelete })
	const cloud, here, both = " in DynamoDB", " in the store", " in DynamoDB and the store"
	swap := func(it attr.Item) {
		list := slices.Clone(it["turns"].List())
		list[0], list[1] = list[1], list[0]
		it["turns"] = attr.L(list...)
	}
	for _, c := range []struct {
		name         string
		theirs, ours func(items map[string]attr.Item)
		first        string
	}{
		{name: "all is well"},
		{name: "a value in DynamoDB", theirs: func(items map[string]attr.Item) { items[updated]["n"] = attr.Int(-1) }, first: updated + cloud},
		{name: "a value here", ours: func(items map[string]attr.Item) { items[updated]["n"] = attr.Int(-1) }, first: updated + here},
		{name: "an update without its effect", theirs: func(items map[string]attr.Item) { delete(items[updated], "seen") }, ours: func(items map[string]attr.Item) { delete(items[updated], "seen") }, first: updated + both},
		{name: "an item that DynamoDB lacks", theirs: func(items map[string]attr.Item) { delete(items, created) }, first: created + cloud},
		{name: "an item that the store lacks", ours: func(items map[string]attr.Item) { delete(items, created) }, first: created + here},
		{name: "an item that both lack", theirs: func(items map[string]attr.Item) { delete(items, created) }, ours: func(items map[string]attr.Item) { delete(items, created) }, first: created + both},
		{name: "a delete without its effect", theirs: func(items map[string]attr.Item) { items[deleted] = deletedKey }, first: deleted + cloud},
		{name: "a delete without its effect here", ours: func(items map[string]attr.Item) { items[deleted] = deletedKey }, first: deleted + here},
		{name: "another order in DynamoDB", theirs: func(items map[string]attr.Item) { swap(items[several]) }, first: several + cloud},
		{name: "another order on both sides", theirs: func(items map[string]attr.Item) { swap(items[several]) }, ours: func(items map[string]attr.Item) { swap(items[several]) }, first: several + both},
		{name: "a write twice", theirs: func(items map[string]attr.Item) {
			items[several]["turns"] = attr.L(append(slices.Clone(items[several]["turns"].List()), attr.Int(9))...)
		}, first: several + cloud},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			items, err := checked(t, asked, c.theirs, c.ours)
			if c.first == "" {
				if err != nil || items != 776 {
					t.Errorf("%d items, %v", items, err)
				}
				return
			}
			if err == nil || !strings.HasSuffix(err.Error(), ": 1 items are not what was written; the first is "+c.first) {
				t.Errorf("%s: %v", c.first, err)
			}
		})
	}
}

// checked runs the check on a store and a cloud with the requested writes and a change in each.
func checked(t *testing.T, asked []write, changeTheirs, changeOurs func(map[string]attr.Item)) (int, error) {
	t.Helper()
	theirs, ours := map[string]attr.Item{}, map[string]attr.Item{}
	for _, w := range asked {
		if it := w.leaves(); it != nil {
			ours[it["pk"].Str()], theirs[it["pk"].Str()] = it, maps.Clone(it)
		}
	}
	if changeTheirs != nil {
		changeTheirs(theirs)
	}
	if changeOurs != nil {
		changeOurs(ours)
	}
	s := storetest.Open(t, table(tableName))
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		for _, it := range ours {
			if _, err := tx.Put(store.PutItem{Table: tableName, Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return check(t.Context(), s, tableName, asked, pages(theirs))
}

// pages is a cloud that returns a hundred items at a time, with the attributes that nodes add.
func pages(items map[string]attr.Item) func(context.Context, remote.Reading) (remote.Page, error) {
	names := slices.Sorted(maps.Keys(items))
	return func(_ context.Context, r remote.Reading) (p remote.Page, err error) {
		from := 0
		if r.After != nil {
			from, _ = slices.BinarySearch(names, r.After["pk"].Str())
			from++
		}
		for _, name := range names[from:min(from+100, len(names))] {
			image := maps.Clone(items[name])
			image["_n"], image["_c"], image["_a_node"] = attr.Int(1), attr.S("node.1.1"), attr.Int(1)
			p.Items = append(p.Items, image)
			p.LastKey = attr.Item{"pk": image["pk"], "sk": image["sk"]}
		}
		if from+100 >= len(names) {
			p.LastKey = nil
		}
		return p, nil
	}
}
