package store_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// byBowler is an index that balls does not have.
func byBowler() store.IndexSpec {
	return store.IndexSpec{Name: "by-bowler", Key: store.KeySpec{Partition: storetest.Str("bowler"), Sort: storetest.Num("runs")}}
}

// housekeep does everything that is due.
func housekeep(t testing.TB, s *store.Store) (slices int) {
	t.Helper()
	for {
		more, err := s.Housekeep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return slices
		}
		slices++
	}
}

func indexStatus(t testing.TB, s *store.Store, table, index string) store.IndexStatus {
	t.Helper()
	d, err := s.Describe(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, ix := range d.Indexes {
		if ix.Name == index {
			return ix.Status
		}
	}
	return ""
}

// fillBalls puts n items, some hundreds in a transaction: within one, bbolt does not split pages. Every third has no bowler.
func fillBalls(t testing.TB, s *store.Store, n int) {
	t.Helper()
	const most = 500
	for from := 0; from < n; from += most {
		storetest.Update(t, s, func(tx *store.Tx) error {
			for i := from; i < min(from+most, n); i++ {
				it := storetest.Ball("final", i, "runs", i%7)
				if i%3 != 0 {
					it["bowler"] = attr.S(fmt.Sprintf("b%d", i%5))
				}
				if _, err := tx.Put(store.PutItem{Table: "balls", Item: it, NoOld: true}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// countIn returns the number of items in an index.
func countIn(t testing.TB, s *store.Store, table, index string) (n int) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) error {
		for start := attr.Item(nil); ; {
			p, err := tx.Scan(store.Scan{Table: table, Index: index, StartKey: start})
			n += len(p.Items)
			if start = p.LastKey; err != nil || start == nil {
				return err
			}
		}
	})
	return n
}

func TestCreateTableOnce(t *testing.T) {
	now := time.Unix(1_563_096_600, 0).UTC()
	path := filepath.Join(t.TempDir(), "s.db")
	s := storetest.OpenWith(t, path, store.Options{NoSync: true, Now: func() time.Time { return now }})
	if err := s.CreateTable(t.Context(), storetest.Balls(), store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	storetest.WantFault(t, s.CreateTable(t.Context(), storetest.Balls(), store.TableSettings{}), fault.Conflict, "table_exists")
	d, err := s.Describe("balls")
	if err != nil || len(d.ID) != 36 || !d.Created.Equal(now) || d.Spec.Key != storetest.Balls().Key || len(d.Indexes) != 2 {
		t.Errorf("described as %+v, %v", d, err)
	}
	_, err = s.Describe("bails")
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
}

func TestSpecsThatAreNoTables(t *testing.T) {
	long := strings.Repeat("n", 256)
	index := func(ix store.IndexSpec) func(*store.TableSpec) {
		return func(t *store.TableSpec) { t.Indexes = append(t.Indexes, ix) }
	}
	many := func(n int, ix store.IndexSpec) func(*store.TableSpec) {
		return func(t *store.TableSpec) {
			for i := range n {
				ix.Name = fmt.Sprintf("index-%d", i)
				t.Indexes = append(t.Indexes, ix)
			}
		}
	}
	include := make([]string, 20)
	for i := range include {
		include[i] = fmt.Sprintf("a%d", i)
	}
	local := store.IndexSpec{Name: "local", Local: true, Key: store.KeySpec{Partition: storetest.Str("match"), Sort: storetest.Num("runs")}}
	with := func(ix store.IndexSpec, change func(*store.IndexSpec)) func(*store.TableSpec) {
		change(&ix)
		return index(ix)
	}
	cases := map[string]struct {
		change func(*store.TableSpec)
		says   string // empty: it is a valid table
	}{
		"as it is":       {func(*store.TableSpec) {}, ""},
		"short name":     {func(t *store.TableSpec) { t.Name = "ab" }, "the name of a table, \"ab\", must have 3 to 255"},
		"long name":      {func(t *store.TableSpec) { t.Name = long }, "must have 3 to 255"},
		"strange name":   {func(t *store.TableSpec) { t.Name = "a/b" }, "of the characters a-z"},
		"all characters": {func(t *store.TableSpec) { t.Name = "aZ0_.-" }, ""},
		"no key":         {func(t *store.TableSpec) { t.Key.Partition.Name = "" }, "1 to 255 bytes"},
		"long key":       {func(t *store.TableSpec) { t.Key.Sort.Name = long }, "1 to 255 bytes"},
		"one key twice":  {func(t *store.TableSpec) { t.Key.Sort.Name = "match" }, "have the same name"},
		"no type":        {func(t *store.TableSpec) { t.Key.Sort.Type = 0 }, "one of the types"},
		"two types":      {index(store.IndexSpec{Name: "new", Key: store.KeySpec{Partition: storetest.Str("ball")}}), "the type N in one key and S"},
		"long TTL":       {func(t *store.TableSpec) { t.TTL = long }, "255 bytes"},
		"index name":     {index(store.IndexSpec{Name: "ab", Key: store.KeySpec{Partition: storetest.Str("bowler")}}), "the name of an index"},
		"index twice":    {index(store.IndexSpec{Name: "bowler-index", Key: store.KeySpec{Partition: storetest.Str("x")}}), "Duplicate index name"},
		"20 indexes":     {many(18, byBowler()), ""},
		"21 indexes":     {many(19, byBowler()), "exceeds the per-table limit of 20"},
		"5 local":        {many(5, local), ""},
		"6 local":        {many(6, local), "exceeds per-table limit of 5"},
		"nothing included": {with(byBowler(), func(ix *store.IndexSpec) { ix.Projection = store.ProjectInclude }),
			"must include 1 to 20 attributes with ProjectInclude"},
		"all and more": {with(byBowler(), func(ix *store.IndexSpec) { ix.Include = include }), "none with another projection"},
		"included twice": {with(byBowler(), func(ix *store.IndexSpec) {
			ix.Projection, ix.Include = store.ProjectInclude, []string{"a", "a"}
		}), "Duplicate element in NonKeyAttributes: a"},
		"100 included": {many(5, store.IndexSpec{Key: byBowler().Key, Projection: store.ProjectInclude, Include: include}), ""},
		"120 included": {many(6, store.IndexSpec{Key: byBowler().Key, Projection: store.ProjectInclude, Include: include}), "the limit is 100"},
		"projection":   {with(byBowler(), func(ix *store.IndexSpec) { ix.Projection = 9 }), "none with another projection"},
		"local":        {index(local), ""},
		"local without sort key": {with(local, func(ix *store.IndexSpec) { ix.Key.Sort = store.KeyAttr{} }),
			"both need a sort key"},
		"local elsewhere": {with(local, func(ix *store.IndexSpec) { ix.Key.Partition = storetest.Str("bowler") }),
			"must have the table's partition key"},
		"local in a table without sort key": {func(t *store.TableSpec) {
			t.Key.Sort, t.Indexes = store.KeyAttr{}, []store.IndexSpec{local}
		}, "both need a sort key"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spec := storetest.Balls()
			c.change(&spec)
			err := storetest.Open(t).CreateTable(t.Context(), spec, store.TableSettings{})
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			storetest.WantFault(t, err, fault.Invalid, "validation")
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, want %q", err, c.says)
			}
		})
	}
}

func TestDefineRefusesWhatCannotChange(t *testing.T) {
	spec := storetest.Balls()
	spec.Indexes = append(spec.Indexes, store.IndexSpec{
		Name: "local", Local: true, Key: store.KeySpec{Partition: storetest.Str("match"), Sort: storetest.Num("runs")},
	})
	s := storetest.Open(t, spec)
	change := func(f func(*store.TableSpec)) store.TableSpec {
		c := spec
		c.Indexes = append([]store.IndexSpec{}, spec.Indexes...)
		f(&c)
		return c
	}
	for name, c := range map[string]store.TableSpec{
		"key":        change(func(t *store.TableSpec) { t.Key.Sort = storetest.Str("ball") }),
		"index key":  change(func(t *store.TableSpec) { t.Indexes[0].Key.Sort = storetest.Num("runs") }),
		"projection": change(func(t *store.TableSpec) { t.Indexes[0].Projection = store.ProjectKeysOnly }),
		"no local":   change(func(t *store.TableSpec) { t.Indexes = t.Indexes[:2] }),
		"more local": change(func(t *store.TableSpec) {
			more := t.Indexes[2]
			more.Name = "local-too"
			t.Indexes = append(t.Indexes, more)
		}),
		"not local": change(func(t *store.TableSpec) { t.Indexes[2].Local = false }),
	} {
		t.Run(name, func(t *testing.T) {
			storetest.WantFault(t, s.Define(t.Context(), c), fault.Conflict, "table_differs")
		})
	}
	turned := change(func(t *store.TableSpec) { t.Indexes[0], t.Indexes[2] = t.Indexes[2], t.Indexes[0] })
	before := s.Stats().Commits
	if err := s.Define(t.Context(), turned); err != nil || s.Stats().Commits != before {
		t.Errorf("the same in another order: %v, %d commits", err, s.Stats().Commits-before)
	}
}

func TestUpdateTableRefuses(t *testing.T) {
	spec := storetest.Balls()
	spec.Indexes = append(spec.Indexes, store.IndexSpec{
		Name: "local", Local: true, Key: store.KeySpec{Partition: storetest.Str("match"), Sort: storetest.Num("runs")},
	})
	s := storetest.Open(t, spec)
	bowler := byBowler()
	bowler.Name = "bowler-index"
	local := spec.Indexes[2]
	local.Name = "local-too"
	for name, c := range map[string]struct {
		change store.TableChange
		kind   fault.Kind
		code   string
		says   string
	}{
		"nothing":       {store.TableChange{Table: "balls"}, fault.Invalid, "validation", "is required"},
		"no such table": {store.TableChange{Table: "bails", DropIndexes: []string{"x"}}, fault.NotFound, "table_not_found", "bails"},
		"no such index": {store.TableChange{Table: "balls", DropIndexes: []string{"x"}}, fault.NotFound, "index_not_found", "not found"},
		"there already": {store.TableChange{Table: "balls", AddIndexes: []store.IndexSpec{bowler}}, fault.Invalid, "validation", "already exists"},
		"add local":     {store.TableChange{Table: "balls", AddIndexes: []store.IndexSpec{local}}, fault.Invalid, "validation", "LocalSecondaryIndex"},
		"drop local":    {store.TableChange{Table: "balls", DropIndexes: []string{"local"}}, fault.Invalid, "validation", "not a GlobalSecondaryIndex: local"},
		"drop and add": {
			store.TableChange{Table: "balls", DropIndexes: []string{"bowler-index"}, AddIndexes: []store.IndexSpec{bowler}},
			fault.Invalid, "validation", "Only one global secondary index update",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.UpdateTable(t.Context(), c.change)
			storetest.WantFault(t, err, c.kind, c.code)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, want %q", err, c.says)
			}
		})
	}
}

// A table's TTL attribute can be set and removed.
func TestUpdateTableTTL(t *testing.T) {
	now := time.Unix(1_563_096_600, 0)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"),
		store.Options{NoSync: true, Now: func() time.Time { return now }}, storetest.Matches())
	past := storetest.Item("match", "final", "until", int(now.Unix())-10)
	storetest.Put(t, s, "matches", past)
	set := func(name string) {
		t.Helper()
		if err := s.UpdateTable(t.Context(), store.TableChange{Table: "matches", TTL: &name}); err != nil {
			t.Fatal(err)
		}
	}
	set("until")
	storetest.WantItem(t, "with TTL", storetest.Get(t, s, "matches", storetest.Item("match", "final")), nil)
	set("")
	storetest.WantItem(t, "without TTL", storetest.Get(t, s, "matches", storetest.Item("match", "final")), past)
}

// Due work of housekeeping is signalled.
func TestWatchTables(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	sig, stop := watchTables(s)
	defer stop()
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	if isSet(sig) {
		t.Error("a put is no change of a table")
	}
	if err := s.DropTable(t.Context(), "balls"); err != nil {
		t.Fatal(err)
	}
	if !isSet(sig) {
		t.Error("a dropped table was not announced")
	}
}

// TestDefineLeavesWhatWasAdded: an index that somebody added to an application's table survives the application's own declaration, which
// does not mention it; one that the declaration no longer has goes.
func TestDefineLeavesWhatWasAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	fillBalls(t, s, 30)
	byRuns := store.IndexSpec{Name: "by-runs", Key: store.KeySpec{Partition: storetest.Num("runs")}}
	if err := s.UpdateTable(t.Context(), store.TableChange{Table: "balls", AddIndexes: []store.IndexSpec{byRuns}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, path, store.Options{NoSync: true}, storetest.Balls())
	if n := countIn(t, s, "balls", "by-runs"); n != 30 {
		t.Errorf("%d items in the index that was added", n)
	}
	fewer := storetest.Balls()
	fewer.Indexes = fewer.Indexes[1:]
	if err := s.Define(t.Context(), fewer); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ix := range s.Tables()[0].Indexes {
		names = append(names, ix.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"by-runs", "wicket-index"}) {
		t.Errorf("indexes %v", names)
	}
}

// Count returns what scans of the table and its indexes read.
func TestCount(t *testing.T) {
	spec := storetest.Balls()
	spec.Indexes = append(spec.Indexes, store.IndexSpec{
		Name: "text-index", Key: store.KeySpec{Partition: storetest.Str("bowler")}, Projection: store.ProjectInclude, Include: []string{"runs", "none"},
	})
	s := storetest.Open(t, spec, storetest.Matches())
	fillBalls(t, s, 25_000) // more than two slices
	storetest.Put(t, s, "balls", storetest.Ball("final", 3, "wicket", "lbw", "runs", 6, "bowler", "anna", "text", "long"))
	storetest.Put(t, s, "balls", storetest.Ball("final", 4, "wicket", "run out", "ttl", 1)) // has no runs, and is expired
	got, err := s.Count(t.Context(), "balls")
	if err != nil {
		t.Fatal(err)
	}
	want := store.Counts{Indexes: map[string]int64{}}
	scanned := func(index string) (items, bytes int64) {
		storetest.View(t, s, func(tx *store.Tx) error {
			tx.ShowExpired()
			for q := (store.Scan{Table: "balls", Index: index}); ; {
				page, err := tx.Scan(q)
				if err != nil {
					return err
				}
				items, bytes = items+int64(page.Scanned), bytes+int64(page.Bytes)
				if q.StartKey = page.LastKey; q.StartKey == nil {
					return nil
				}
			}
		})
		return items, bytes
	}
	want.Items, want.Bytes = scanned("")
	for _, index := range []string{"bowler-index", "wicket-index", "text-index"} {
		want.Indexes[index], _ = scanned(index)
	}
	if want.Items != 25_000 || want.Indexes["wicket-index"] != 1 {
		t.Errorf("not the items that this test is about: %+v", want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	empty, err := s.Count(t.Context(), "matches")
	if err != nil || empty.Items != 0 || empty.Bytes != 0 {
		t.Errorf("an empty table: %+v, %v", empty, err)
	}
	_, err = s.Count(t.Context(), "none")
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
}
