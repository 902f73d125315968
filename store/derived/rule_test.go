package derived_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

var rows = table.Handle{Table: "rows", PK: "pk", SK: "sk"}

func key(name string) attr.Item { return attr.Item{"pk": attr.S("sums"), "sk": attr.S(name)} }

// rig derives sums: the facts are wanted, by the row's name; a negative number stands for no row.
type rig struct {
	*derived.Rule
	t      *testing.T
	store  *store.Store
	wanted map[string]int64
	unit   derived.Unit // what else Read says
}

func newRig(t *testing.T) *rig {
	t.Helper()
	spec := store.TableSpec{Name: rows.Table, Key: table.Keys("pk", "sk")}
	r := &rig{t: t, store: storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, spec), wanted: map[string]int64{}}
	r.Rule = &derived.Rule{Name: "sums", Rows: rows, Read: func(tx *store.Tx, _ string) (derived.Unit, error) {
		u := r.unit
		for _, name := range names(r.wanted) {
			was, err := tx.Get(rows.Table, key(name))
			if err != nil {
				return u, err
			}
			row := derived.Row{Key: key(name), Was: was}
			if n := r.wanted[name]; n >= 0 {
				row.After = attr.Item{"n": attr.Int(n)}
			} else if was != nil {
				row.Before = attr.Item{"n": was["n"]}
			}
			u.Rows = append(u.Rows, row)
		}
		return u, nil
	}}
	return r
}

func names(all map[string]int64) (out []string) {
	for i := range 200 {
		if _, ok := all[fmt.Sprintf("%03d", i)]; ok {
			out = append(out, fmt.Sprintf("%03d", i))
		}
	}
	return out
}

// foreign puts a row as another program does.
func (r *rig) foreign(name string, n int64, more ...string) {
	r.t.Helper()
	it := key(name)
	it["n"] = attr.Int(n)
	for _, m := range more {
		it[m] = attr.S("of others")
	}
	r.update(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: rows.Table, Item: it}); return err })
}

// corrects changes a row's number as another program does, which leaves the rest of the row.
func (r *rig) corrects(name string, n int64) {
	r.t.Helper()
	w := rows.Update(key(name), "SET n = :n", table.IfTrue("", attr.Item{":n": attr.Int(n)}))
	r.update(func(tx *store.Tx) error { return table.Commit(tx, w) })
}

func (r *rig) update(do func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), do); err != nil {
		r.t.Fatal(err)
	}
}

// settles derives the rows, of which some are written and others left.
func (r *rig) settles(what string, written, others int) derived.Outcome {
	r.t.Helper()
	out, err := r.SettleUnit(r.t.Context(), r.store, "unit")
	if err != nil || out.Written != written || len(out.Others) != others {
		r.t.Errorf("%s: %d written, %d left, %v; want %d and %d", what, out.Written, len(out.Others), err, written, others)
	}
	return out
}

// is fails the test unless a row has a number; a negative one stands for no row.
func (r *rig) is(what, name string, want int64) {
	r.t.Helper()
	var it attr.Item
	r.update(func(tx *store.Tx) (err error) { it, err = tx.Get(rows.Table, key(name)); return err })
	if n, ok := it["n"].Int(); ok != (want >= 0) || ok && n != want {
		r.t.Errorf("%s: %s is %v, want %d", what, name, it, want)
	}
}

// Rows that this program wrote follow their facts: they are made, changed and removed. Attributes of others in them stay.
func TestOwnRowsFollowTheFacts(t *testing.T) {
	r := newRig(t)
	for i := range 100 { // more than one batch
		r.wanted[fmt.Sprintf("%03d", i)] = int64(i)
	}
	r.settles("at first", 100, 0)
	r.settles("again", 0, 0)
	r.update(func(tx *store.Tx) error {
		return table.Commit(tx, rows.Update(key("001"), "SET #other = :o", table.IfTrue("", attr.Item{":o": attr.S("kept")})))
	})
	r.wanted["001"], r.wanted["002"] = 11, -1
	r.settles("changed", 2, 0)
	r.is("changed", "001", 11)
	r.is("changed", "002", -1)
	r.update(func(tx *store.Tx) error {
		it, err := tx.Get(rows.Table, key("001"))
		if it["other"].Str() != "kept" {
			t.Errorf("an attribute of others is gone: %v", it)
		}
		return err
	})
}

// Rows of others stay as they are: those never signed, those replaced since, those corrected since, and those copied from another row
// with its signature. A person may have them recounted, and from then on they are this program's.
func TestRowsOfOthersStay(t *testing.T) {
	r := newRig(t)
	for name := range strings.SplitSeq("001 002 003 004", " ") {
		r.wanted[name] = 5
	}
	r.foreign("001", 140)
	r.settles("at first", 3, 1)
	r.foreign("002", 140)
	r.corrects("003", 140)
	r.update(func(tx *store.Tx) error {
		it, err := tx.Get(rows.Table, key("004"))
		if err != nil {
			return err
		}
		it["sk"] = attr.S("005")
		_, err = tx.Put(store.PutItem{Table: rows.Table, Item: it})
		return err
	})
	r.wanted["003"], r.wanted["005"] = -1, 6
	seen := r.settles("changed by others", 0, 4).Others
	for name, n := range map[string]int64{"001": 140, "002": 140, "003": 140, "004": 5, "005": 5} {
		r.is("changed by others", name, n)
	}
	mark := derived.Fingerprint(seen)
	r.corrects("001", 141)
	if _, err := r.Adopt(t.Context(), r.store, "unit", mark); !fault.Is(err, fault.Conflict) {
		t.Errorf("recounted though a row has changed since it was shown: %v", err)
	}
	r.is("after a refused recount", "002", 140)
	again := r.settles("shown again", 0, 4)
	if n, err := r.Adopt(t.Context(), r.store, "unit", derived.Fingerprint(again.Others)); n != 4 || err != nil {
		t.Errorf("%d rows recounted, %v", n, err)
	}
	r.settles("recounted", 0, 0)
	r.wanted["001"] = 7
	r.settles("a fact has changed", 1, 0)
	r.is("a fact has changed", "001", 7)
}

// A row without a signature that was right before its facts changed is this program's own, unless another program counts the facts too.
func TestRowThatWasRightIsOwn(t *testing.T) {
	for _, shared := range []bool{false, true} {
		r := newRig(t)
		r.unit.Shared = shared
		r.foreign("001", 5)
		r.wanted["001"] = 5
		r.settles("right", 0, 0)
		r.wanted["001"] = 6
		if shared {
			r.settles("a fact has changed, shared", 0, 1)
			continue
		}
		r.settles("a fact has changed", 1, 0)
		r.is("a fact has changed", "001", 6)
	}
}

// A row into which nothing has been counted is nobody's.
func TestBlankRowIsOwn(t *testing.T) {
	r := newRig(t)
	read := r.Read
	r.Read = func(tx *store.Tx, unit string) (derived.Unit, error) {
		u, err := read(tx, unit)
		for i := range u.Rows {
			n, _ := u.Rows[i].Was["n"].Int()
			u.Rows[i].Blank = n == 0
		}
		return u, err
	}
	r.foreign("001", 0)
	r.foreign("002", 1)
	r.wanted["001"], r.wanted["002"] = 5, 5
	r.settles("one blank", 1, 1)
	r.is("one blank", "001", 5)
	r.is("one blank", "002", 1)
}

// While something stands in the way, nothing of a unit is written, nor learnt to be right.
func TestHeldUnitIsNotWritten(t *testing.T) {
	r := newRig(t)
	r.foreign("001", 5)
	r.unit.Held = []string{"a fact cannot be read"}
	r.wanted["001"], r.wanted["002"] = 5, 5
	if out := r.settles("held", 0, 0); len(out.Held) != 1 {
		t.Errorf("held: %+v", out)
	}
	delete(r.wanted, "002")
	if out := r.settles("held, and nothing to do", 0, 0); len(out.Held) != 0 {
		t.Errorf("held, and nothing to do: %+v", out)
	}
	r.unit.Held = nil
	r.wanted["001"] = 6
	r.settles("no more held", 0, 1)
}

// The checks of a unit are judged with each write.
func TestChecksAreJudgedWithEachWrite(t *testing.T) {
	r := newRig(t)
	r.unit.Checks = []store.WriteItem{rows.Check(key("fact"), table.IfTrue("n = :n", attr.Item{":n": attr.Int(1)}))}
	r.wanted["001"] = 5
	if _, err := r.SettleUnit(t.Context(), r.store, "unit"); !fault.Is(err, fault.Conflict) {
		t.Errorf("without the fact: %v", err)
	}
	r.is("without the fact", "001", -1)
	r.foreign("fact", 1)
	r.settles("with the fact", 1, 0)
}

// A rule whose rows still differ once they are written is a mistake, which ends.
func TestRuleThatDoesNotComeToRest(t *testing.T) {
	r := newRig(t)
	r.wanted["001"] = 5
	read := r.Read
	r.Read = func(tx *store.Tx, unit string) (derived.Unit, error) {
		r.wanted["001"]++
		return read(tx, unit)
	}
	if _, err := r.SettleUnit(t.Context(), r.store, "unit"); err == nil || !strings.Contains(err.Error(), "rest") {
		t.Errorf("%v", err)
	}
}

// The node leaves alone a unit that the application is deriving itself.
func TestBusyUnitIsLeftAlone(t *testing.T) {
	r := newRig(t)
	busy := true
	r.Busy = func(*store.Tx, string) (bool, error) { return busy, nil }
	r.wanted["001"] = 5
	if out, err := r.SettleIdle(t.Context(), r.store, "unit"); out.Written != 0 || err != nil {
		t.Errorf("busy: %+v, %v", out, err)
	}
	busy = false
	if out, err := r.SettleIdle(t.Context(), r.store, "unit"); out.Written != 1 || err != nil {
		t.Errorf("idle: %+v, %v", out, err)
	}
}
