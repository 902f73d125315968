package cricket

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// What one request of each kind may have, in DynamoDB and so here.
const (
	batchGetMax   = 100
	batchWriteMax = 25
)

// adminFieldsName is the attribute with the names of the attributes that an admin has set.
const adminFieldsName = "adminFields"

// getAll reads items by their keys, a hundred at a time, and asks again for what a batch had no room for. What is not
// there is left out.
func getAll(tx *store.Tx, table string, keys []attr.Item) (items []attr.Item, err error) {
	for some := range slices.Chunk(keys, batchGetMax) {
		ask := store.BatchGet{table: {Keys: some}}
		for ask != nil {
			got, err := tx.BatchGet(ask)
			if err != nil {
				return nil, err
			}
			items = append(items, got.Items[table]...)
			ask = got.Unprocessed
		}
	}
	return items, nil
}

// missing returns those of the keys that have no item here.
func missing(tx *store.Tx, table string, keys []attr.Item) (out []attr.Item, err error) {
	for _, key := range keys {
		item, err := tx.Get(table, key)
		if err != nil {
			return nil, err
		}
		if item == nil {
			out = append(out, key)
		}
	}
	return out, nil
}

// putAll writes items twenty-five at a time.
func putAll(tx *store.Tx, table string, items []attr.Item) error {
	for some := range slices.Chunk(items, batchWriteMax) {
		var puts []store.WriteRequest
		for _, item := range some {
			puts = append(puts, store.WriteRequest{Put: item})
		}
		if err := tx.BatchWrite(store.BatchWrite{table: puts}); err != nil {
			return err
		}
	}
	return nil
}

// oneRow decodes a row; missing is the error where there is none. A row that is not as this version writes it is as
// good as none: others write these tables too.
func oneRow[T any](tx *store.Tx, table string, key attr.Item, missing error) (row T, err error) {
	item, err := tx.Get(table, key)
	if err != nil {
		return row, err
	}
	if item == nil || attr.Unmarshal(item, &row) != nil {
		var none T
		return none, missing
	}
	return row, nil
}

// setAttributes writes the attributes of next that the row has otherwise, on the condition that the row is there.
// Attributes that next does not have stay, those of others among them. It reports whether anything was written.
func setAttributes(tx *store.Tx, table string, key, old, next attr.Item) (changed bool, err error) {
	return growAttributes(tx, table, key, old, next, attr.Value{})
}

// growAttributes is setAttributes that also adds names, a set of strings or none, to those that an admin has set. It
// says what is added and not what there is then, so that the names that two nodes give at once are both there in the
// end. Rows of earlier versions have a list, which grows as one.
func growAttributes(tx *store.Tx, table string, key, old, next attr.Item, names attr.Value) (changed bool, err error) {
	u := store.UpdateItem{Table: table, Key: key, Params: expr.Params{Names: map[string]string{}, Values: attr.Item{}}}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if _, isKey := key[name]; isKey || attr.Equal(old[name], next[name]) {
			continue
		}
		p := fmt.Sprintf("a%d", len(u.Names))
		u.Names["#"+p], u.Values[":"+p] = name, next[name]
		set = append(set, "#"+p+" = :"+p)
	}
	add := ""
	switch {
	case names.IsZero():
	case old[adminFieldsName].Kind() == attr.KindL:
		if u.Values[":by"], err = attr.MarshalValue(names.Strs()); err != nil {
			return false, err
		}
		u.Names["#by"] = adminFieldsName
		set = append(set, "#by = list_append(#by, :by)")
	default:
		u.Names["#by"], u.Values[":by"] = adminFieldsName, names
		add = "#by :by"
	}
	if len(set) == 0 && add == "" {
		return false, nil
	}
	u.Update = expr.Clauses{Set: strings.Join(set, ", "), Add: add}.String()
	u.Condition, u.Names["#k"] = "attribute_exists(#k)", slices.Sorted(maps.Keys(key))[0]
	_, err = tx.Update(u)
	return err == nil, err
}

// syncRow takes a record of the feed into its row, or makes the row. Of a row that is there, the attributes in keep
// and those that an admin has set stay; so does a row that is only in the cloud, which the condition is for.
func syncRow(tx *store.Tx, table string, key, next attr.Item, keep ...string) error {
	old, err := tx.Get(table, key)
	if err != nil {
		return err
	}
	if old == nil {
		_, err = tx.Put(store.PutItem{
			Table: table, Item: next, Condition: "attribute_not_exists(#k)",
			Params: expr.Params{Names: map[string]string{"#k": slices.Sorted(maps.Keys(key))[0]}},
		})
		return err
	}
	next = maps.Clone(next)
	for _, name := range append(adminFields(old), keep...) {
		delete(next, name)
	}
	delete(next, adminFieldsName)
	_, err = setAttributes(tx, table, key, old, next)
	return err
}

// patchRow sets what an admin has chosen, and notes that it was an admin. A row that is not there is missing.
func patchRow(tx *store.Tx, table string, key, fields attr.Item, missing error) error {
	if len(fields) == 0 {
		return fault.New(fault.Invalid, "validation", "nothing to change")
	}
	old, err := tx.Get(table, key)
	if err != nil {
		return err
	}
	if old == nil {
		return missing
	}
	have := adminFields(old)
	added := slices.Sorted(maps.Keys(fields))
	added = slices.DeleteFunc(added, func(name string) bool { return slices.Contains(have, name) })
	var names attr.Value
	if len(added) > 0 {
		if names, err = attr.SS(added...); err != nil {
			return err
		}
	}
	_, err = growAttributes(tx, table, key, old, fields, names)
	if fault.Is(err, fault.Conflict) {
		return missing
	}
	return err
}

// adminFields are the names that a row says an admin has set, as a list or as a set.
func adminFields(item attr.Item) []string {
	v := item[adminFieldsName]
	names := slices.Clone(v.Strs())
	for _, e := range v.List() {
		if e.Str() != "" {
			names = append(names, e.Str())
		}
	}
	return names
}

// setText and setBool add a field of a patch that was given.
func setText(fields attr.Item, name string, given *string) {
	if given != nil {
		fields[name] = attr.S(*given)
	}
}

func setBool(fields attr.Item, name string, given *bool) {
	if given != nil {
		fields[name] = attr.Bool(*given)
	}
}
