package txn_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// pairs reads a space.
func pairs(t testing.TB, s *store.Store, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	storetest.View(t, s, func(tx *store.Tx) error {
		return tx.Side(name).Each(nil, nil, func(k, v []byte) (bool, error) {
			out[string(k)] = string(v)
			return true, nil
		})
	})
	return out
}

func setPairs(t testing.TB, s *store.Store, name string, of map[string]string) {
	t.Helper()
	storetest.Update(t, s, func(tx *store.Tx) error {
		for k, v := range of {
			if err := tx.Side(name).Set([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestSide(t *testing.T) {
	s := storetest.Open(t)
	if got := pairs(t, s, "none"); len(got) != 0 {
		t.Errorf("a space that nobody has written to has %v", got)
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		side := tx.Side("a")
		key, value := []byte("k"), []byte("v")
		err := side.Set(key, value)
		key[0], value[0] = 'x', 'x'
		got, err2 := side.Get([]byte("k"))
		if string(got) != "v" {
			t.Errorf("got %q: the caller's bytes were kept", got)
		}
		got[0] = 'y'
		if again, _ := side.Get([]byte("k")); string(again) != "v" {
			t.Errorf("got %q: not a copy", again)
		}
		err3 := side.Set([]byte("empty"), nil)
		empty, err4 := side.Get([]byte("empty"))
		none, err5 := side.Get([]byte("none"))
		if empty == nil || none != nil {
			t.Errorf("empty is %#v, none is %#v", empty, none)
		}
		return errors.Join(err, err2, err3, err4, err5, side.Delete([]byte("none")), tx.Side("b").Delete([]byte("k")), tx.Side("ab").Set([]byte("k"), []byte("w")))
	})
	if got := pairs(t, s, "a"); !maps.Equal(got, map[string]string{"k": "v", "empty": ""}) {
		t.Errorf("got %v", got)
	}
	if n := len(storetest.Journal(t, s, 0)); n != 0 {
		t.Errorf("%d records", n)
	}
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.Side("a").Delete([]byte("k")) })
	if got := pairs(t, s, "a"); !maps.Equal(got, map[string]string{"empty": ""}) {
		t.Errorf("got %v", got)
	}
}

func TestSideEach(t *testing.T) {
	s := storetest.Open(t)
	setPairs(t, s, "a", map[string]string{"a": "", "b": "", "b1": "", "b2": "", "b\xff": "", "c": ""})
	for name, c := range map[string]struct {
		prefix, after string
		limit         int
		want          string
	}{
		"all":               {want: `["a" "b" "b1" "b2" "b\xff" "c"]`},
		"of a prefix":       {prefix: "b", want: `["b" "b1" "b2" "b\xff"]`},
		"behind one":        {after: "b", want: `["b1" "b2" "b\xff" "c"]`},
		"behind none":       {after: "b11", want: `["b2" "b\xff" "c"]`},
		"both":              {prefix: "b", after: "b1", want: `["b2" "b\xff"]`},
		"after before it":   {prefix: "b", after: "a", want: `["b" "b1" "b2" "b\xff"]`},
		"after behind it":   {prefix: "b", after: "c", want: `[]`},
		"until enough":      {limit: 2, want: `["a" "b"]`},
		"of no such prefix": {prefix: "d", want: `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			keys := []string{}
			storetest.View(t, s, func(tx *store.Tx) error {
				var after []byte
				if c.after != "" {
					after = []byte(c.after)
				}
				return tx.Side("a").Each([]byte(c.prefix), after, func(k, _ []byte) (bool, error) {
					keys = append(keys, string(k))
					return len(keys) != c.limit, nil
				})
			})
			if got := fmt.Sprintf("%q", keys); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSideRefuses(t *testing.T) {
	s := storetest.Open(t)
	setPairs(t, s, "a", map[string]string{"k": "v"})
	for name, c := range map[string]struct {
		space, key string
		value      int
	}{
		"no name": {"", "k", 1}, "a long name": {strings.Repeat("n", 65), "k", 1}, "no key": {"a", "", 1},
		"a long key": {"a", strings.Repeat("k", 8<<10+1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Update(t, s, func(tx *store.Tx) error {
				storetest.WantFault(t, tx.Side(c.space).Set([]byte(c.key), make([]byte, c.value)), fault.Internal, "bad_side")
				return nil
			})
		})
	}
	boom := errors.New("boom")
	storetest.View(t, s, func(tx *store.Tx) error {
		storetest.WantFault(t, tx.Side("a").Set([]byte("k"), nil), fault.Internal, "tx_read_only")
		storetest.WantFault(t, tx.Side("a").Delete([]byte("k")), fault.Internal, "tx_read_only")
		err := tx.Side("a").Each(nil, nil, func(_, _ []byte) (bool, error) {
			_, err := tx.Side("a").Get([]byte("k"))
			storetest.WantFault(t, err, fault.Internal, "tx_lent")
			return true, boom
		})
		if !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
		return nil
	})
	var gone store.Side
	storetest.Update(t, s, func(tx *store.Tx) error {
		gone = tx.Side("a")
		return nil
	})
	storetest.WantFault(t, gone.Set([]byte("k"), nil), fault.Internal, "tx_over")
	_, err := gone.Get([]byte("k"))
	storetest.WantFault(t, err, fault.Internal, "tx_over")
}

// TestSidesAndRows: members of commits write items and pairs in side spaces, and some of them fail. Afterwards there is exactly what the
// successful ones have written.
func TestSidesAndRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "s.db")
		open := func() *store.Store {
			s, err := store.Open(path, store.Options{NoSync: true})
			if err == nil {
				err = s.Define(t.Context(), storetest.Balls())
			}
			if err != nil {
				rt.Fatal(err)
			}
			s.Replicate(storetest.Mirror{})
			return s
		}
		s := open()
		defer func() { _ = s.Close() }()
		rows, sides := map[int]string{}, map[string]string{}
		rt.Repeat(map[string]func(*rapid.T){
			"commit": func(rt *rapid.T) {
				var fns []func(*store.Tx) error
				var fails []bool
				for range rapid.IntRange(1, 5).Draw(rt, "members") {
					m := drawMember(rt)
					fns, fails = append(fns, m.run), append(fails, m.fails)
					if !m.fails {
						m.apply(rows, sides)
					}
				}
				for i, err := range storetest.Together(t, s, fns...) {
					if (err != nil) != fails[i] || err != nil && !errors.Is(err, errNotNow) {
						rt.Fatalf("member %d: %v", i, err)
					}
				}
			},
			"reopen": func(*rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = open()
			},
			"": func(rt *rapid.T) {
				got := map[int]string{}
				storetest.View(t, s, func(tx *store.Tx) error {
					p, err := tx.Scan(store.Scan{Table: "balls"})
					for _, it := range p.Items {
						n, _ := it["ball"].Int()
						got[int(n)] = it["text"].Str()
					}
					return err
				})
				if !maps.Equal(got, rows) {
					rt.Fatalf("rows %v, want %v", got, rows)
				}
				if have := pairs(t, s, "x"); !maps.Equal(have, sides) {
					rt.Fatalf("pairs %v, want %v", have, sides)
				}
				storetest.CheckMirror(t, s, "balls")
				storetest.Check(t, s)
				if t.Failed() {
					rt.FailNow()
				}
			},
		})
	})
}

// sideMember is a transaction of a few steps.
type sideMember struct {
	steps []sideStep
	fails bool
}

type sideStep struct {
	op   string // set, unset, put, delete, refused
	n    int
	text string
}

func drawMember(rt *rapid.T) sideMember {
	m := sideMember{fails: rapid.IntRange(0, 2).Draw(rt, "fails") == 0}
	for range rapid.IntRange(1, 6).Draw(rt, "steps") {
		m.steps = append(m.steps, sideStep{
			op: rapid.SampledFrom([]string{"set", "set", "unset", "put", "put", "delete", "batch"}).Draw(rt, "op"),
			n:  rapid.IntRange(0, 5).Draw(rt, "n"), text: strings.Repeat("x", rapid.IntRange(0, 2000).Draw(rt, "size")),
		})
	}
	return m
}

func (m sideMember) run(tx *store.Tx) error {
	for _, st := range m.steps {
		if err := st.run(tx); err != nil {
			return err
		}
	}
	if m.fails {
		return errNotNow
	}
	return nil
}

func (st sideStep) key() []byte { return fmt.Appendf(nil, "%d", st.n) }

func (st sideStep) run(tx *store.Tx) (err error) {
	switch st.op {
	case "set":
		return tx.Side("x").Set(st.key(), []byte(st.text))
	case "unset":
		return tx.Side("x").Delete(st.key())
	case "put":
		_, err = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", st.n, "text", st.text)})
	case "delete":
		_, err = tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", st.n)})
	default:
		err = tx.BatchWrite(store.BatchWrite{"balls": {
			{Put: storetest.Ball("final", st.n, "text", st.text)}, {Delete: storetest.Ball("final", st.n+1)},
		}})
	}
	return err
}

func (m sideMember) apply(rows map[int]string, sides map[string]string) {
	for _, st := range m.steps {
		switch st.op {
		case "set":
			sides[string(st.key())] = st.text
		case "unset":
			delete(sides, string(st.key()))
		case "put":
			rows[st.n] = st.text
		case "delete":
			delete(rows, st.n)
		default:
			rows[st.n] = st.text
			delete(rows, st.n+1)
		}
	}
}

// TestSidesTravel: side spaces are in a backup, in a store restored from it, and in a compacted file; a store in memory has them too.
func TestSidesTravel(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range 300 {
		want[fmt.Sprintf("key-%d", i)] = strings.Repeat("v", i)
	}
	setPairs(t, s, "a", want)
	if _, err := s.Backup(t.Context(), filepath.Join(dir, "backup"), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), filepath.Join(dir, "backup"), filepath.Join(dir, "r.db"), store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Compact(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, filepath.Join(dir, "r.db")} {
		if got := pairs(t, storetest.OpenWith(t, file, store.Options{NoSync: true}), "a"); !maps.Equal(got, want) {
			t.Errorf("%s has %d pairs", file, len(got))
		}
	}
	m, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	setPairs(t, m, "a", want)
	if got := pairs(t, m, "a"); !maps.Equal(got, want) {
		t.Errorf("in memory there are %d pairs", len(got))
	}
	storetest.Check(t, m)
}

func TestAdopt(t *testing.T) {
	s, r := openTold(t)
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "bowler", "archer", "runs", 1))
	r.calls = nil
	adopt := func(key, it attr.Item) (changed bool, err error) {
		err = s.Update(t.Context(), func(tx *store.Tx) (err error) {
			changed, err = tx.Adopt("balls", key, it)
			return err
		})
		return changed, err
	}
	for _, c := range []struct {
		name    string
		it      attr.Item
		changed bool
		op      store.Op
		bowlers []int // of archer, stokes
	}{
		{"another image", storetest.Ball("final", 1, "bowler", "stokes"), true, store.OpPut, []int{0, 1}},
		{"the same", storetest.Ball("final", 1, "bowler", "stokes"), false, 0, []int{0, 1}},
		{"an image that the index cannot have", storetest.Ball("final", 1, "bowler", 7), true, store.OpPut, []int{0, 0}},
		{"none", nil, true, store.OpDelete, []int{0, 0}},
		{"none again", nil, false, 0, []int{0, 0}},
		{"a new one, expired", storetest.Ball("final", 1, "bowler", "archer", "ttl", 1_700_000_000), true, store.OpPut, []int{1, 0}},
	} {
		before := s.Seq()
		changed, err := adopt(storetest.Ball("final", 1), c.it)
		if err != nil || changed != c.changed {
			t.Errorf("%s: changed %v, %v", c.name, changed, err)
		}
		records := storetest.Journal(t, s, before)
		if c.changed != (len(records) == 1) || c.changed && (records[0].Origin != store.OriginCloud || records[0].Op != c.op ||
			!storetest.SameItem(records[0].New, c.it)) {
			t.Errorf("%s: the journal has %+v", c.name, records)
		}
		storetest.View(t, s, func(tx *store.Tx) error {
			tx.ShowExpired()
			it, err := tx.Get("balls", storetest.Ball("final", 1))
			storetest.WantItem(t, c.name, it, c.it)
			for i, b := range []string{"archer", "stokes"} {
				p, err2 := tx.Query(store.Query{Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Params: storetest.Values(":b", b)})
				if err = errors.Join(err, err2); p.Count != c.bowlers[i] {
					t.Errorf("%s: %d of %s in the index", c.name, p.Count, b)
				}
			}
			return err
		})
	}
	if len(r.calls) > 0 {
		t.Errorf("the replicator was told of %+v", r.calls)
	}
	_, err := adopt(storetest.Ball("final", 1), storetest.Ball("final", 2))
	storetest.WantFault(t, err, fault.Invalid, "validation")
	_, err = adopt(storetest.Item("match", "final"), storetest.Item("match", "final"))
	storetest.WantFault(t, err, fault.Invalid, "validation")
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Adopt("bails", storetest.Ball("final", 1), nil)
		return err
	})
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
	storetest.Update(t, s, func(tx *store.Tx) error { // the origin of later writes is unchanged
		_, err := tx.Adopt("balls", storetest.Ball("final", 3), storetest.Ball("final", 3))
		_, err2 := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 4)})
		return errors.Join(err, err2)
	})
	if records := storetest.Journal(t, s, s.Seq()-1); records[0].Origin != "" || len(r.calls) != 1 {
		t.Errorf("the put behind an adoption: %+v, told %d times", records[0], len(r.calls))
	}
}

func TestRawKeys(t *testing.T) {
	s, r := openTold(t)
	storetest.Put(t, s, "balls", storetest.Ball("final", -3))
	want, err := attr.AppendKey(nil, attr.S("final"))
	if err == nil {
		want, err = attr.AppendKey(want, attr.Int(-3))
	}
	if err != nil {
		t.Fatal(err)
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		raw, err := tx.RawKey("balls", storetest.Ball("final", -3))
		if !bytes.Equal(raw, want) || !bytes.Equal(raw, r.calls[0][0].RawKey) {
			t.Errorf("raw %x, told %x, want %x", raw, r.calls[0][0].RawKey, want)
		}
		key, err2 := tx.KeyOf("balls", raw)
		storetest.WantItem(t, "key", key, storetest.Ball("final", -3))
		_, err3 := tx.KeyOf("balls", []byte{1, 2})
		if !fault.Is(err3, fault.Damaged) {
			t.Errorf("no key: %v", err3)
		}
		_, err4 := tx.RawKey("balls", storetest.Item("match", "final"))
		storetest.WantFault(t, err4, fault.Invalid, "validation")
		return errors.Join(err, err2)
	})
}

func TestLockOf(t *testing.T) {
	for name, c := range map[string]struct {
		lock string
		of   attr.Item
		want string
	}{
		"none":              {"", storetest.Item("match", "final"), ""},
		"a string":          {"match:{match}", storetest.Item("match", "final"), "match:final"},
		"a number":          {"ball:{ball}", storetest.Ball("final", 7), "ball:7"},
		"no prefix":         {"{match}", storetest.Ball("final", 7), "final"},
		"absent":            {"match:{match}", storetest.Item("ball", 1), ""},
		"empty":             {"match:{match}", storetest.Item("match", ""), ""},
		"neither":           {"match:{match}", attr.Item{"match": attr.Bool(true)}, ""},
		"braces in a value": {"match:{match}", storetest.Item("match", "{ball}"), "match:{ball}"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := storetest.Balls()
			spec.Lock = c.lock
			if got := spec.LockOf(c.of); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, wrong := range []string{"match:{", "match:{}", "match:{a", "match}", "a{b{c}}", "}{", "{a}}", "orchestrator", "{a}{b}", "{a}!"} {
		spec := storetest.Balls()
		spec.Lock = wrong
		storetest.WantFault(t, storetest.Open(t).Define(t.Context(), spec), fault.Invalid, "validation")
	}
}

// TestLockIsKept: the lock is in the catalogue, and can be changed.
func TestLockIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for _, lock := range []string{"", "match:{match}", "other:{match}", ""} {
		spec := storetest.Balls()
		spec.Lock = lock
		s, err := store.Open(path, store.Options{NoSync: true})
		if err == nil {
			err = errors.Join(s.Define(t.Context(), spec), s.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err = store.Open(path, store.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Tables()[0].Lock; got != lock {
			t.Errorf("got %q, want %q", got, lock)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
