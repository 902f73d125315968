package simulation_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// model is the expected state of the store: a map of items, and the journal.
type model struct {
	items   map[string]attr.Item // by modelKey
	records []store.Record       // of all transactions, trimmed or not
	tokens  map[string]doneToken
}

func modelKey(it attr.Item) string {
	n, _ := it["ball"].Int()
	return fmt.Sprintf("%s %+06d", it["match"].Str(), n)
}

func (m model) clone() model {
	return model{items: maps.Clone(m.items), records: slices.Clone(m.records), tokens: maps.Clone(m.tokens)}
}

// simulation runs the same random operations on a store and the model. A failing run prints its seed, for -rapid.seed.
type simulation struct {
	t     *testing.T
	path  string
	now   time.Time
	s     *store.Store
	model model
}

func TestSimulation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		sim := &simulation{
			t: t, path: filepath.Join(dir, "s.db"), now: time.Unix(1_563_096_600, 0),
			model: model{items: map[string]attr.Item{}, tokens: map[string]doneToken{}},
		}
		sim.open(rt)
		defer func() { _ = sim.s.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"transaction": sim.transaction,
			"query":       sim.query,
			"index":       sim.queryIndex,
			"many":        sim.queryMany,
			"scan":        sim.scan,
			"read many":   sim.readMany,
			"reopen":      sim.reopen,
			"time": func(rt *rapid.T) {
				sim.now = sim.now.Add(time.Duration(rapid.SampledFrom([]int{1, 20, 100, 600}).Draw(rt, "s")) * time.Second)
			},
			"": sim.invariants,
		})
	})
}

func (sim *simulation) open(rt *rapid.T) {
	s, err := store.Open(sim.path, store.Options{
		NoSync: true, JournalBytes: 2000, Now: func() time.Time { return sim.now },
	})
	if err == nil {
		spec := storetest.Balls()
		spec.Indexes = append(spec.Indexes, store.IndexSpec{
			Name: "many-index", Key: store.NewKeySpec(storetest.Attrs(storetest.Str("match"), storetest.Str("bowler")), storetest.Attrs(storetest.Num("runs"), storetest.Str("wicket"))),
		})
		err = s.Define(sim.t.Context(), spec)
	}
	if err != nil {
		rt.Fatal(err)
	}
	sim.s = s
}

func (sim *simulation) reopen(rt *rapid.T) {
	if err := sim.s.Close(); err != nil {
		rt.Fatal(err)
	}
	sim.open(rt)
}

func drawKey(rt *rapid.T) attr.Item {
	return storetest.Ball(rapid.SampledFrom([]string{"a", "b", "a\x00"}).Draw(rt, "match"), rapid.IntRange(-3, 6).Draw(rt, "ball"))
}

func drawItem(rt *rapid.T, now time.Time) attr.Item {
	it := drawKey(rt)
	if rapid.Bool().Draw(rt, "has bowler") {
		it["bowler"] = attr.S(rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "bowler"))
	}
	if rapid.Bool().Draw(rt, "has wicket") {
		it["wicket"] = attr.S("w")
	}
	if rapid.Bool().Draw(rt, "has runs") {
		it["runs"] = attr.Int(rapid.Int64Range(-2, 6).Draw(rt, "runs"))
	}
	if rapid.IntRange(0, 3).Draw(rt, "has ttl") == 0 {
		it["ttl"] = attr.Int(now.Unix() + rapid.Int64Range(-50, 150).Draw(rt, "ttl"))
	}
	it["text"] = attr.S(strings.Repeat("x", rapid.IntRange(0, 300).Draw(rt, "size")))
	return it
}

// transaction runs a few writes; one in four fails at its end and must leave nothing.
func (sim *simulation) transaction(rt *rapid.T) {
	next := sim.model.clone()
	fails := rapid.IntRange(0, 3).Draw(rt, "fails") == 0
	err := sim.s.Update(sim.t.Context(), func(tx *store.Tx) error {
		for range rapid.IntRange(1, 5).Draw(rt, "writes") {
			sim.write(rt, tx, &next)
		}
		if rapid.Bool().Draw(rt, "acknowledge") {
			if err := tx.SetCursor("reader", tx.Seq()-uint64(rapid.IntRange(0, 5).Draw(rt, "behind"))); err != nil {
				return err
			}
		}
		if fails {
			return errMember
		}
		return nil
	})
	if fails != errors.Is(err, errMember) || (err != nil) != fails {
		rt.Fatalf("fails %v: %v", fails, err)
	}
	if !fails {
		sim.model = next
	}
}

func (sim *simulation) write(rt *rapid.T, tx *store.Tx, m *model) {
	switch rapid.IntRange(0, 5).Draw(rt, "op") {
	case 0:
		sim.put(rt, tx, m, "")
	case 1:
		sim.put(rt, tx, m, "attribute_not_exists(bowler)")
	case 2:
		sim.update(rt, tx, m)
	case 3:
		sim.delete(rt, tx, m)
	case 4:
		sim.transactWrite(rt, tx, m)
	case 5:
		sim.batchWrite(rt, tx, m)
	}
}

func (sim *simulation) put(rt *rapid.T, tx *store.Tx, m *model, condition string) {
	it := drawItem(rt, sim.now)
	had := m.items[modelKey(it)]
	old, err := tx.Put(store.PutItem{Table: "balls", Item: it, Condition: condition})
	if condition != "" && !had["bowler"].IsZero() {
		wantRefused(rt, err, had)
		return
	}
	m.wrote(rt, store.OpPut, old, err, it)
}

func (sim *simulation) update(rt *rapid.T, tx *store.Tx, m *model) {
	key := drawKey(rt)
	n := rapid.Int64Range(-1, 3).Draw(rt, "add")
	had := m.items[modelKey(key)]
	images, err := tx.Update(store.UpdateItem{
		Table: "balls", Key: key, Update: "ADD runs :n SET bowler = :b REMOVE wicket",
		Condition: "attribute_not_exists(runs) OR runs < :max", Params: storetest.Values(":n", attr.Int(n), ":b", "z", ":max", 5),
	})
	runs, has := had["runs"].Int()
	if has && runs >= 5 {
		wantRefused(rt, err, had)
		return
	}
	now := maps.Clone(had)
	if now == nil {
		now = maps.Clone(key)
	}
	now["runs"], now["bowler"] = attr.Int(runs+n), attr.S("z")
	delete(now, "wicket")
	if !storetest.SameItem(images.New, now) {
		rt.Fatalf("update gave %s, want %s", storetest.Show(images.New), storetest.Show(now))
	}
	m.wrote(rt, store.OpUpdate, images.Old, err, now)
}

func (sim *simulation) delete(rt *rapid.T, tx *store.Tx, m *model) {
	key := drawKey(rt)
	had := m.items[modelKey(key)]
	old, err := tx.Delete(store.DeleteItem{Table: "balls", Key: key})
	if had == nil {
		if err != nil || old != nil {
			rt.Fatalf("delete of nothing: %v, %v", old, err)
		}
		return
	}
	m.wrote(rt, store.OpDelete, old, err, nil)
}

func wantRefused(rt *rapid.T, err error, had attr.Item) {
	failed, ok := errors.AsType[*store.ConditionFailedError](err)
	if !ok || !storetest.SameItem(failed.Old, had) {
		rt.Fatalf("got %v, want a refusal over %s", err, storetest.Show(had))
	}
}

// wrote records a write in the model, after comparing the old image.
func (m *model) wrote(rt *rapid.T, op store.Op, old attr.Item, err error, now attr.Item) {
	key := now
	if now == nil {
		key = old
	}
	had := m.items[modelKey(key)]
	if err != nil || !storetest.SameItem(old, had) {
		rt.Fatalf("%v: old is %s, want %s; %v", op, storetest.Show(old), storetest.Show(had), err)
	}
	m.records = append(m.records, store.Record{Op: op, Old: old, New: now})
	if now == nil {
		delete(m.items, modelKey(key))
	} else {
		m.items[modelKey(key)] = now
	}
}

// visible returns the items for which in holds and that reads should show, in key order.
func (sim *simulation) visible(in func(attr.Item) bool) []attr.Item {
	var out []attr.Item
	for _, key := range slices.SortedFunc(maps.Keys(sim.model.items), compareKeys(sim.model.items)) {
		it := sim.model.items[key]
		if ttl, ok := it["ttl"].Int(); ok && ttl < sim.now.Unix() {
			continue
		}
		if in(it) {
			out = append(out, it)
		}
	}
	return out
}

func compareKeys(items map[string]attr.Item) func(a, b string) int {
	return func(a, b string) int {
		x, y := items[a], items[b]
		if c := strings.Compare(x["match"].Str(), y["match"].Str()); c != 0 {
			return c
		}
		c, _ := attr.Compare(x["ball"], y["ball"])
		return c
	}
}

func (sim *simulation) query(rt *rapid.T) {
	match := rapid.SampledFrom([]string{"a", "b", "a\x00", "c"}).Draw(rt, "match")
	low, high := rapid.IntRange(-4, 7).Draw(rt, "low"), rapid.IntRange(-4, 7).Draw(rt, "high")
	q := store.Query{
		Table: "balls", KeyCondition: "#m = :m AND ball BETWEEN :low AND :high",
		Params: expr.Params{
			Names: map[string]string{"#m": "match"}, Values: storetest.Item(":m", match, ":low", low, ":high", max(low, high)),
		},
		Descending: rapid.Bool().Draw(rt, "descending"), Limit: rapid.IntRange(0, 4).Draw(rt, "limit"),
	}
	want := sim.visible(func(it attr.Item) bool {
		n, _ := it["ball"].Int()
		return it["match"].Str() == match && int(n) >= low && int(n) <= max(low, high)
	})
	if q.Descending {
		slices.Reverse(want)
	}
	sim.compare(rt, want, func(tx *store.Tx, start attr.Item) (store.Page, error) {
		q.StartKey = start
		return tx.Query(q)
	})
}

func (sim *simulation) queryIndex(rt *rapid.T) {
	bowler := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "bowler")
	q := store.Query{
		Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Filter: "attribute_exists(runs)",
		Params: storetest.Values(":b", bowler), Limit: rapid.IntRange(0, 3).Draw(rt, "limit"),
	}
	want := sim.visible(func(it attr.Item) bool { return it["bowler"].Str() == bowler && !it["runs"].IsZero() })
	sim.compare(rt, want, func(tx *store.Tx, start attr.Item) (store.Page, error) {
		q.StartKey = start
		return tx.Query(q)
	})
}

// queryMany reads the index whose key has parts of two attributes.
func (sim *simulation) queryMany(rt *rapid.T) {
	match, bowler := rapid.SampledFrom([]string{"a", "b", "a\x00"}).Draw(rt, "match"), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "bowler")
	runs := rapid.Int64Range(-2, 6).Draw(rt, "runs")
	q := store.Query{
		Table: "balls", Index: "many-index", KeyCondition: "#m = :m AND bowler = :b AND runs >= :r",
		Params: expr.Params{
			Names: map[string]string{"#m": "match"}, Values: storetest.Item(":m", match, ":b", bowler, ":r", int(runs)),
		},
		Descending: rapid.Bool().Draw(rt, "descending"), Limit: rapid.IntRange(0, 3).Draw(rt, "limit"),
	}
	want := sim.visible(func(it attr.Item) bool {
		n, has := it["runs"].Int()
		return has && n >= runs && it["match"].Str() == match && it["bowler"].Str() == bowler && !it["wicket"].IsZero()
	})
	slices.SortStableFunc(want, func(a, b attr.Item) int { // with equal wickets and runs, in the order of balls
		c, _ := attr.Compare(a["runs"], b["runs"])
		return c
	})
	if q.Descending {
		slices.Reverse(want)
	}
	sim.compare(rt, want, func(tx *store.Tx, start attr.Item) (store.Page, error) {
		q.StartKey = start
		return tx.Query(q)
	})
}

func (sim *simulation) scan(rt *rapid.T) {
	limit := rapid.IntRange(0, 5).Draw(rt, "limit")
	sim.compare(rt, sim.visible(func(attr.Item) bool { return true }),
		func(tx *store.Tx, start attr.Item) (store.Page, error) {
			return tx.Scan(store.Scan{Table: "balls", Limit: limit, StartKey: start})
		})
}

// compare reads page after page.
func (sim *simulation) compare(rt *rapid.T, want []attr.Item, page func(*store.Tx, attr.Item) (store.Page, error)) {
	var got []attr.Item
	err := sim.s.View(sim.t.Context(), func(tx *store.Tx) error {
		for start := attr.Item(nil); ; {
			p, err := page(tx, start)
			if err != nil {
				return err
			}
			got = append(got, p.Items...)
			if start = p.LastKey; start == nil {
				return nil
			}
		}
	})
	if err != nil || !slices.EqualFunc(got, want, storetest.SameItem) {
		rt.Fatalf("got %d items, want %d: %v\n%v\n%v", len(got), len(want), err, got, want)
	}
}

// invariants runs after every step.
func (sim *simulation) invariants(rt *rapid.T) {
	problems, err := sim.s.CheckCopy(sim.t.Context(), nil)
	if err != nil || len(problems) > 0 {
		rt.Fatalf("check: %v, %v", problems, err)
	}
	base := uint64(1 << 40)
	if got := sim.s.Seq() - base; got != uint64(len(sim.model.records)) {
		rt.Fatalf("journal is at %d, want %d", got, len(sim.model.records))
	}
	records, err := sim.s.Journal(sim.t.Context(), 0, 1<<20)
	if err != nil {
		rt.Fatal(err)
	}
	if len(records) > 0 && records[0].Seq != sim.s.FirstSeq() {
		rt.Fatalf("journal begins at %d, not at %d", records[0].Seq, sim.s.FirstSeq())
	}
	for _, r := range records {
		want := sim.model.records[r.Seq-base-1]
		if r.Op != want.Op || !storetest.SameItem(r.Old, want.Old) || !storetest.SameItem(r.New, want.New) {
			rt.Fatalf("record %d: %v %s %s, want %v %s %s", r.Seq-base, r.Op, storetest.Show(r.Old), storetest.Show(r.New),
				want.Op, storetest.Show(want.Old), storetest.Show(want.New))
		}
	}
	storetest.Check(sim.t, sim.s)
}
