package reference

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

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
	delete(next, tables.AdminFieldsName)
	_, err = tables.SetAttributes(tx, table, key, old, next)
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
	_, err = tables.GrowAttributes(tx, table, key, old, fields, names)
	if fault.Is(err, fault.Conflict) {
		return missing
	}
	return err
}

// adminFields are the names that a row says an admin has set, as a list or as a set.
func adminFields(item attr.Item) []string {
	v := item[tables.AdminFieldsName]
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
