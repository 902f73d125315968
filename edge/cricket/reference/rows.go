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

// row is the location of a record, and its name in errors.
type row struct {
	table, key, id string
	kind           string
	keep           []string // attributes that the feed sets only in a new row
}

func (r row) item() attr.Item { return attr.Item{r.key: attr.S(r.id)} }

func (r row) missing() error {
	return fault.New(fault.NotFound, r.kind+"_not_found", "no %s %q", r.kind, r.id)
}

// record is a row that both the sync and admins write.
type record interface {
	LeagueRecord | TeamRecord
	row() row
}

func rowOf[R record](id string) row {
	var none R
	r := none.row()
	r.id = id
	return r
}

// synced holds the records of one table: the feed's, with the changes of admins.
type synced[R record] struct{}

// Get returns a record; NotFound if there is none.
func (synced[R]) Get(tx *store.Tx, id string) (R, error) {
	at := rowOf[R](id)
	return tables.One[R](tx, at.table, at.item(), at.missing())
}

// All lists the records by id.
func (synced[R]) All(tx *store.Tx) ([]R, error) {
	return tables.Decode[R](tx.ScanAll(store.Scan{Table: rowOf[R]("").table}))
}

// Missing returns the keys of the records without a row in this store.
func (synced[R]) Missing(tx *store.Tx, records ...R) ([]attr.Item, error) {
	var keys []attr.Item
	for i := range records {
		if at := records[i].row(); at.id != "" {
			keys = append(keys, at.item())
		}
	}
	return tables.Missing(tx, rowOf[R]("").table, keys)
}

// Put writes records of the feed: new rows, and changed attributes of existing ones. Attributes that an admin
// has set or that are not the feed's stay.
func (synced[R]) Put(tx *store.Tx, records ...R) error {
	seen := map[string]bool{}
	for i := range records {
		at := records[i].row()
		if at.id == "" || seen[at.id] {
			continue
		}
		seen[at.id] = true
		next, err := attr.Marshal(records[i])
		if err != nil {
			return err
		}
		delete(next, tables.AdminFields)
		if err := syncRow(tx, at, next); err != nil {
			return err
		}
	}
	return nil
}

// patch sets an admin's values for a record, which the sync then keeps. change is a struct of pointers; nil
// leaves a field as it is. NotFound if there is no record.
func (s synced[R]) patch(tx *store.Tx, id string, name *string, change any) (R, error) {
	var none R
	at := rowOf[R](id)
	if name != nil && *name == "" {
		return none, fault.New(fault.Invalid, "validation", "a %s needs a name", at.kind)
	}
	fields, err := attr.Marshal(change)
	if err == nil {
		err = patchRow(tx, at, fields)
	}
	if err != nil {
		return none, err
	}
	return s.Get(tx, id)
}

// syncRow writes a record of the feed to its row, or creates it. In an existing row, at.keep and the attributes
// set by an admin stay. The condition protects a row that exists only in the cloud.
func syncRow(tx *store.Tx, at row, next attr.Item) error {
	old, err := tx.Get(at.table, at.item())
	if err != nil {
		return err
	}
	if old == nil {
		_, err = tx.Put(store.PutItem{
			Table: at.table, Item: next, Condition: "attribute_not_exists(#k)",
			Params: expr.Params{Names: map[string]string{"#k": at.key}},
		})
		return err
	}
	for _, name := range append(adminFields(old), at.keep...) {
		delete(next, name)
	}
	_, err = tables.SetAttributes(tx, at.table, at.item(), old, next)
	return err
}

// patchRow sets an admin's values and records their names. NotFound if there is no row.
func patchRow(tx *store.Tx, at row, fields attr.Item) error {
	if len(fields) == 0 {
		return fault.New(fault.Invalid, "validation", "nothing to change")
	}
	old, err := tx.Get(at.table, at.item())
	if err != nil {
		return err
	}
	if old == nil {
		return at.missing()
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
	_, err = tables.GrowAttributes(tx, at.table, at.item(), old, fields, names)
	if fault.Is(err, fault.Conflict) {
		return at.missing()
	}
	return err
}

// adminFields returns the names recorded in a row, stored as a list or a set.
func adminFields(item attr.Item) []string {
	v := item[tables.AdminFields]
	names := slices.Clone(v.Strs())
	for _, e := range v.List() {
		if e.Str() != "" {
			names = append(names, e.Str())
		}
	}
	return names
}
