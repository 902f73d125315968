package reference

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
)

// row is the location of a record, and its name in errors.
type row struct {
	table, key, id string
	sort, sortID   string // the second attribute of the key; empty: the key has one
	kind           string
	fed            []string // attributes that the feed decides, unless an admin has set them
	first          []string // attributes that are set only in a new row
}

func (r row) item() attr.Item {
	it := attr.Item{r.key: attr.S(r.id)}
	if r.sort != "" {
		it[r.sort] = attr.S(r.sortID)
	}
	return it
}

func (r row) isWhole() bool { return r.id != "" && (r.sort == "" || r.sortID != "") }

func (r row) missing() error {
	return fault.New(fault.NotFound, r.kind+"_not_found", "no %s %q", r.kind, r.id)
}

// record is a row that both the feed and admins decide about.
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
	return tables.Get[R](tx, at.table, at.item(), at.missing())
}

// All lists the records by id.
func (synced[R]) All(tx *store.Tx) ([]R, error) {
	return tables.Decode[R](tx, rowOf[R]("").table, tx.ScanAll(store.Scan{Table: rowOf[R]("").table}))
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
	if sign := at.signWithout(old, fields); !sign.IsZero() {
		fields[derived.By] = sign
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
