package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// overs has string sort keys, some of which begin with others or have bytes that the encoding of keys escapes.
func overs() store.TableSpec {
	return store.TableSpec{
		Name:    "overs",
		Key:     store.KeySpec{Partition: storetest.Str("pk"), Sort: storetest.Str("sk")},
		Indexes: []store.IndexSpec{{Name: "by-day", Key: store.KeySpec{Partition: storetest.Str("day"), Sort: storetest.Num("time")}}},
	}
}

var sortKeys = []string{"BALL#1", "BALL#10", "BALL#2", "BALL", "BALL#\x00", "BALL#\xff", "CARD", "A", "BALM", "\x00", "ÄON"}

func sorts(p store.Page) []string {
	var out []string
	for _, it := range p.Items {
		out = append(out, it["sk"].Str())
	}
	return out
}

func TestQueryRanges(t *testing.T) {
	s := storetest.Open(t, overs())
	for _, pk := range []string{"m", "m\x00", "m1", "l"} {
		for _, sk := range sortKeys {
			storetest.Put(t, s, "overs", storetest.Item("pk", pk, "sk", sk))
		}
	}
	cases := map[string]func(sk string) bool{
		"":                           func(string) bool { return true },
		"AND sk = :a":                func(sk string) bool { return sk == "BALL#1" },
		"AND sk < :a":                func(sk string) bool { return sk < "BALL#1" },
		"AND sk <= :a":               func(sk string) bool { return sk <= "BALL#1" },
		"AND sk > :a":                func(sk string) bool { return sk > "BALL#1" },
		"AND sk >= :a":               func(sk string) bool { return sk >= "BALL#1" },
		"AND begins_with(sk, :a)":    func(sk string) bool { return strings.HasPrefix(sk, "BALL#1") },
		"AND sk BETWEEN :a AND :b":   func(sk string) bool { return sk >= "BALL#1" && sk <= "BALM" },
		"AND begins_with(sk, :ball)": func(sk string) bool { return strings.HasPrefix(sk, "BALL#") },
	}
	all := map[string]string{":a": "BALL#1", ":b": "BALM", ":ball": "BALL#"}
	for text, in := range cases {
		for _, descending := range []bool{false, true} {
			for _, limit := range []int{0, 1, 3} {
				t.Run(fmt.Sprintf("%s/%v/%d", text, descending, limit), func(t *testing.T) {
					params := expr.Params{Values: storetest.Item(":pk", "m")}
					for name, v := range all {
						if strings.Contains(text, name+")") || strings.HasSuffix(text, name) || strings.Contains(text, name+" ") {
							params.Values[name] = attr.S(v)
						}
					}
					got := queryAll(t, s, store.Query{
						Table: "overs", KeyCondition: "pk = :pk " + text, Params: params, Descending: descending, Limit: limit,
					})
					want := slices.DeleteFunc(slices.Sorted(slices.Values(sortKeys)), func(sk string) bool { return !in(sk) })
					if descending {
						slices.Reverse(want)
					}
					if !slices.Equal(got, want) {
						t.Errorf("got %q, want %q", got, want)
					}
				})
			}
		}
	}
}

// queryAll reads page after page, and checks their sizes.
func queryAll(t *testing.T, s *store.Store, q store.Query) (out []string) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) error {
		for {
			p, err := tx.Query(q)
			if err != nil {
				return err
			}
			out = append(out, sorts(p)...)
			if q.Limit > 0 && len(p.Items) > q.Limit {
				t.Errorf("%d items in a page of %d", len(p.Items), q.Limit)
			}
			if p.LastKey == nil {
				return nil
			}
			q.StartKey = p.LastKey
		}
	})
	return out
}

func TestQueryOfAnIndex(t *testing.T) {
	s := storetest.Open(t, overs(), storetest.Balls())
	type entry struct {
		sk   string
		time int
	}
	var want []entry
	for n := range 40 {
		it := storetest.Item("pk", "m", "sk", fmt.Sprintf("%03d", n), "time", (n*7)%10-5)
		if n%3 == 0 { // the others are not in the index
			it["day"] = attr.S("sunday")
			want = append(want, entry{it["sk"].Str(), (n*7)%10 - 5})
		}
		storetest.Put(t, s, "overs", it)
	}
	slices.SortFunc(want, func(a, b entry) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.sk, b.sk)) })
	var sks []string
	for _, e := range want {
		if e.time >= -2 && e.time <= 3 {
			sks = append(sks, e.sk)
		}
	}
	q := store.Query{
		Table: "overs", Index: "by-day", KeyCondition: "#d = :d AND #t BETWEEN :a AND :b",
		Params: expr.Params{
			Names: map[string]string{"#d": "day", "#t": "time"}, Values: storetest.Item(":d", "sunday", ":a", -2, ":b", 3),
		},
	}
	for _, q.Limit = range []int{0, 1, 4} {
		if got := queryAll(t, s, q); !slices.Equal(got, sks) {
			t.Errorf("limit %d: got %q, want %q", q.Limit, got, sks)
		}
	}
	q.Descending = true
	slices.Reverse(sks)
	if got := queryAll(t, s, q); !slices.Equal(got, sks) {
		t.Errorf("descending: got %q, want %q", got, sks)
	}
}

func TestIndexShowsItsProjection(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "wicket", "bowled", "runs", 0, "bowler", "archer", "text", "x"))
	storetest.View(t, s, func(tx *store.Tx) error {
		q := store.Query{Table: "balls", Index: "wicket-index", KeyCondition: "wicket = :w", Params: storetest.Values(":w", "bowled")}
		p, err := tx.Query(q)
		if err != nil {
			return err
		}
		storetest.WantItem(t, "keys only", p.Items[0], storetest.Ball("final", 1, "wicket", "bowled", "runs", 0))
		q.Filter, q.Params = "bowler = :b", storetest.Values(":w", "bowled", ":b", "archer")
		if p, err = tx.Query(q); err != nil || len(p.Items) != 0 {
			t.Errorf("a filter saw what the index does not show: %v, %v", p.Items, err)
		}
		return nil
	})
}

func TestFilterCountsBeforeTheLimit(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	for n := range 10 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n, "runs", n%2))
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		p, err := tx.Query(store.Query{
			Table: "balls", KeyCondition: "#m = :m", Filter: "runs = :r", Limit: 5,
			Params: expr.Params{Names: map[string]string{"#m": "match"}, Values: storetest.Item(":m", "final", ":r", 1)},
		})
		if len(p.Items) != 2 {
			t.Errorf("got %d items, want 2", len(p.Items))
		}
		storetest.WantItem(t, "last key", p.LastKey, storetest.Ball("final", 4))
		return err
	})
}

func TestPagesEndAtOneMegabyte(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	text := strings.Repeat("x", 100_000)
	for n := range 25 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n, "bowler", "archer", "text", text))
	}
	for _, index := range []string{"", "bowler-index"} {
		var sizes []int
		storetest.View(t, s, func(tx *store.Tx) error {
			q := store.Scan{Table: "balls", Index: index}
			for {
				p, err := tx.Scan(q)
				if err != nil {
					return err
				}
				sizes = append(sizes, len(p.Items))
				if q.StartKey = p.LastKey; q.StartKey == nil {
					return nil
				}
			}
		})
		if !slices.Equal(sizes, []int{11, 11, 3}) {
			t.Errorf("%s: pages of %v", index, sizes)
		}
	}
}

func TestStartKeysAreChecked(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "bowler", "archer"))
	base := store.Query{
		Table: "balls", KeyCondition: "#m = :m",
		Params: expr.Params{Names: map[string]string{"#m": "match"}, Values: storetest.Item(":m", "final")},
	}
	for name, key := range map[string]attr.Item{
		"no sort key": storetest.Item("match", "final"),
		"wrong type":  storetest.Item("match", "final", "ball", "one"),
		"too much":    storetest.Ball("final", 1, "bowler", "archer"),
		"elsewhere":   storetest.Ball("semi-final", 1),
		"empty":       {},
	} {
		q := base
		q.StartKey = key
		err := s.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Query(q)
			return err
		})
		t.Log(name, err)
		storetest.WantFault(t, err, fault.Invalid, "validation")
	}
}

func TestExpiredItems(t *testing.T) {
	now := time.Unix(1_000_000_000, 0).UTC()
	o := store.Options{NoSync: true, Now: func() time.Time { return now }}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls())
	at := int(now.Unix())
	storetest.Put(t, s, "balls",
		storetest.Ball("final", 1, "ttl", at-1, "bowler", "archer"),
		storetest.Ball("final", 2, "ttl", at, "bowler", "archer"),
		storetest.Ball("final", 3, "ttl", at-6*365*86400, "bowler", "archer"), // DynamoDB ignores it: too old to be an expiry
		storetest.Ball("final", 4, "ttl", "soon", "bowler", "archer"),
		storetest.Ball("final", 5, "bowler", "archer"),
	)
	if it := storetest.Get(t, s, "balls", storetest.Ball("final", 1)); it != nil {
		t.Errorf("got %v", it)
	}
	want := []string{"2", "3", "4", "5"}
	storetest.View(t, s, func(tx *store.Tx) error {
		p, err := tx.Query(store.Query{
			Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Params: storetest.Values(":b", "archer"), Limit: 4,
		})
		if err != nil {
			return err
		}
		var got []string
		for _, it := range p.Items {
			got = append(got, it["ball"].Str())
		}
		if !slices.Equal(got, want) {
			t.Errorf("query: got %v, want %v", got, want)
		}
		p, err = tx.Scan(store.Scan{Table: "balls"})
		if len(p.Items) != 4 {
			t.Errorf("scan: got %v", p.Items)
		}
		return err
	})
	// Writes still see it until it is swept.
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 1), Condition: "attribute_not_exists(bowler)"})
		return err
	})
	storetest.WantFault(t, err, fault.Conflict, "condition_failed")
	storetest.Update(t, s, func(tx *store.Tx) error {
		images, err := tx.Update(store.UpdateItem{
			Table: "balls", Key: storetest.Ball("final", 1), Update: "SET #t = :t",
			Params: expr.Params{Names: map[string]string{"#t": "ttl"}, Values: storetest.Item(":t", at+10)},
		})
		storetest.WantItem(t, "new image", images.New, storetest.Ball("final", 1, "ttl", at+10, "bowler", "archer"))
		return err
	})
	now = now.Add(12 * time.Second)
	if it := storetest.Get(t, s, "balls", storetest.Ball("final", 1)); it != nil {
		t.Errorf("got %v", it)
	}
}

func TestAllPages(t *testing.T) {
	s := storetest.Open(t, overs())
	for _, sk := range sortKeys {
		storetest.Put(t, s, "overs", storetest.Item("pk", "m", "sk", sk))
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		read := 0
		for it, err := range tx.ScanAll(store.Scan{Table: "overs", Limit: 3}) {
			if err != nil || it["pk"].Str() != "m" {
				t.Errorf("got %v, %v", it, err)
			}
			read++
		}
		if read != len(sortKeys) {
			t.Errorf("%d items of %d", read, len(sortKeys))
		}
		q := store.Query{Table: "overs", KeyCondition: "pk = :pk", Params: storetest.Values(":pk", "m"), Limit: 2, Descending: true}
		var got []string
		for it, err := range tx.QueryAll(q) {
			if err != nil {
				return err
			}
			if got = append(got, it["sk"].Str()); len(got) == 5 {
				break
			}
		}
		want := slices.Sorted(slices.Values(sortKeys))
		slices.Reverse(want)
		if !slices.Equal(got, want[:5]) {
			t.Errorf("got %q, want %q", got, want[:5])
		}
		for _, err := range tx.QueryAll(store.Query{Table: "none", KeyCondition: "pk = :pk", Params: storetest.Values(":pk", "m")}) {
			storetest.WantFault(t, err, fault.NotFound, "table_not_found")
		}
		return nil
	})
}

// A page of the file that the transaction has emptied stays in the tree until the commit.
func TestDescendingOverEmptiedPages(t *testing.T) {
	s := storetest.Open(t, overs())
	const n = 40
	key := func(i int) attr.Item { return storetest.Item("pk", "m", "sk", fmt.Sprint(100+i)) }
	for i := range n {
		it := key(i)
		it["day"], it["time"], it["text"] = storetest.Value("d"), storetest.Value(i), storetest.Value(strings.Repeat("x", 3000))
		storetest.Put(t, s, "overs", it)
	}
	all := store.Query{Table: "overs", KeyCondition: "pk = :pk", Descending: true, Params: storetest.Values(":pk", "m")}
	for _, gone := range [][2]int{{0, 20}, {20, n}, {10, 30}, {1, n}, {0, n - 1}, {0, n}} {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			var want []string
			for i := range n {
				if i < gone[0] || i >= gone[1] {
					want = append([]string{key(i)["sk"].Str()}, want...)
				} else if _, err := tx.Delete(store.DeleteItem{Table: "overs", Key: key(i)}); err != nil {
					return err
				}
			}
			for _, limit := range []int{0, 1, 7} {
				q := all
				q.Limit = limit
				var got []string
				for it, err := range tx.QueryAll(q) {
					if err != nil {
						return err
					}
					got = append(got, it["sk"].Str())
				}
				if !slices.Equal(got, want) {
					t.Errorf("without %v, limit %d: got %v, want %v", gone, limit, got, want)
				}
			}
			return errors.New("undone")
		})
		if err == nil || err.Error() != "undone" {
			t.Fatal(err)
		}
	}
}
