package derived

import (
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

// A write computed from a row that has changed since is refused, here and in the cloud: a change of its values, of its signature alone, a
// row that is there by now, and one that is gone.
func TestWriteIsOfTheRowAsItWas(t *testing.T) {
	h := table.Handle{Table: "rows", PK: "pk", SK: "sk"}
	key := attr.Item{"pk": attr.S("a"), "sk": attr.S("b")}
	row := func(n int64, by attr.Value) attr.Item {
		it := attr.Item{"pk": attr.S("a"), "sk": attr.S("b"), "n": attr.Int(n)}
		if !by.IsZero() {
			it[By] = by
		}
		return it
	}
	five := attr.Item{"n": attr.Int(5)}
	sign := Signature(key, five)
	was := row(5, sign)
	change, remove := Row{Key: key, Was: was, After: attr.Item{"n": attr.Int(6)}}, Row{Key: key, Was: was, Before: five}
	for name, tt := range map[string]struct {
		is   attr.Item
		do   Row
		held bool
	}{
		"a change of the row as it was":        {was, change, true},
		"a change of other values":             {row(7, sign), change, false},
		"a change of a row without signature":  {row(5, attr.Value{}), change, false},
		"a change of a row that is gone":       {nil, change, false},
		"a removal of the row as it was":       {was, remove, true},
		"a removal of other values":            {row(7, sign), remove, false},
		"a removal of a row without signature": {row(5, attr.Value{}), remove, false},
		"a new row":                            {nil, Row{Key: key, After: five}, true},
		"a new row where there is one by now":  {was, Row{Key: key, After: five}, false},
	} {
		s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, store.TableSpec{Name: "rows", Key: table.Keys("pk", "sk")})
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			if tt.is != nil {
				if _, err := tx.Put(store.PutItem{Table: "rows", Item: tt.is}); err != nil {
					return err
				}
			}
			return table.Commit(tx, tt.do.write(h))
		})
		if tt.held && err != nil || !tt.held && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
