package dynamoapi

import "github.com/touchline/touchline/store"

// watch counts what the writes that follow cost, and what is read or checked by a key.
func (u *consumption) watch(tx *store.Tx, transact bool) {
	if u == nil {
		return
	}
	times := 1.0
	if transact {
		times = 2
	}
	tx.Touched(func(t store.Touch) {
		spec := &store.TableSpec{Name: t.Table}
		u.count(spec, "", units{write: times * whole(max(t.Old, t.New), writeUnit), transact: transact})
		for _, ix := range t.Indexes {
			n := whole(max(ix.Old, ix.New), writeUnit)
			if ix.Moved {
				n = whole(ix.Old, writeUnit) + whole(ix.New, writeUnit)
			}
			spec.Indexes = []store.IndexSpec{{Name: ix.Index, Local: ix.Local}}
			u.count(spec, ix.Index, units{write: times * n, transact: transact})
		}
	})
}

// fetched counts what a table was asked for because a local index does not show it, in consistent read units.
func (u *consumption) fetched(spec *store.TableSpec, n int, consistent bool) {
	if u == nil || n == 0 {
		return
	}
	read := float64(n)
	if !consistent {
		read /= 2
	}
	u.count(spec, "", units{read: read})
}
