//go:build long

package dynamo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

func sorted(t testing.TB, err error) *intent.Error {
	t.Helper()
	e, ok := errors.AsType[*intent.Error](err)
	if !ok {
		t.Fatalf("not sorted: %v", err)
	}
	return e
}

func putItem(t testing.TB, c *Client, it attr.Item) {
	t.Helper()
	if _, err := c.Write(t.Context(), intent.Call{Op: store.OpPut, Table: "events", Item: it}); err != nil {
		t.Fatal(err)
	}
}

func getItem(t testing.TB, c *Client, pk string) attr.Item {
	t.Helper()
	it, err := c.Get(t.Context(), "events", item(pk))
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// The answers of the real server, as far as DynamoDB Local imitates it.
func TestAgainstLocal(t *testing.T) {
	c := local(t)
	define(t, c, spec("events"))
	t.Run("writes", func(t *testing.T) { testWrites(t, c) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, c) })
	t.Run("transactions", func(t *testing.T) { testTransactions(t, c) })
	t.Run("pages", func(t *testing.T) { testPages(t, c) })
	t.Run("values", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			it := genItem().Draw(rt, "item")
			it["pk"] = attr.S("round")
			if attr.Check(it) != nil {
				return
			}
			putItem(t, c, it)
			if got := getItem(t, c, "round"); !attr.EqualItems(got, it) {
				rt.Fatalf("%s came back as %s", attr.AppendJSON(nil, it), attr.AppendJSON(nil, got))
			}
		})
	})
	t.Run("units", func(t *testing.T) { testUnits(t, c) })
	t.Run("abilities", func(t *testing.T) {
		if ok, err := c.Transactions(t.Context()); err != nil || !ok {
			t.Errorf("%v, %v", ok, err)
		}
	})
	if !c.KnowsServerTime() || c.Skew().Abs() > time.Second {
		t.Errorf("the clock of this very machine is off by %v (known: %v)", c.Skew(), c.KnowsServerTime())
	}
	u := c.Usage()
	if u.Requests == 0 || u.WriteUnits == 0 || u.ReadUnits == 0 {
		t.Errorf("%+v", u)
	}
}

func testWrites(t *testing.T, c *Client) {
	before := c.Usage().WriteUnits
	it, err := c.Write(t.Context(), intent.Call{Op: store.OpPut, Table: "events", Item: item("w", "n", num("1"))})
	if err != nil || !attr.EqualItems(it, item("w", "n", num("1"))) {
		t.Errorf("put: %v, %v", it, err)
	}
	it, err = c.Write(t.Context(), intent.Call{
		Op: store.OpUpdate, Table: "events", Key: item("w"), Update: "SET #n = #n + :one", Condition: "#n = :one",
		Params: expr.Params{Names: map[string]string{"#n": "n"}, Values: attr.Item{":one": num("1")}},
	})
	if err != nil || !attr.EqualItems(it, item("w", "n", num("2"))) {
		t.Errorf("update: %v, %v", it, err)
	}
	if got := c.Usage().WriteUnits - before; got != 2 {
		t.Errorf("%v write units", got)
	}
	it, err = c.Write(t.Context(), intent.Call{
		Op: store.OpUpdate, Table: "events", Key: item("w"), Update: "SET n = :one", Condition: "n = :one",
		Params: expr.Params{Values: attr.Item{":one": num("1")}},
	})
	if e := sorted(t, err); e.Class != intent.ConditionFailed || !attr.EqualItems(e.Old, item("w", "n", num("2"))) || it != nil {
		t.Errorf("condition: %v, old %v", err, e.Old)
	}
	// A condition on a missing item: the refusal contains no item.
	_, err = c.Write(t.Context(), intent.Call{
		Op: store.OpDelete, Table: "events", Key: item("nobody"), Condition: "attribute_exists(pk)",
	})
	if e := sorted(t, err); e.Class != intent.ConditionFailed || e.Old != nil {
		t.Errorf("condition on nothing: %v, old %v", err, e.Old)
	}
	it, err = c.Write(t.Context(), intent.Call{Op: store.OpDelete, Table: "events", Key: item("w")})
	if err != nil || it != nil || getItem(t, c, "w") != nil {
		t.Errorf("delete: %v, %v", it, err)
	}
}

func testRefusals(t *testing.T, c *Client) {
	putItem(t, c, item("r", "s", attr.S("text")))
	big := attr.S(strings.Repeat("x", 300<<10))
	putItem(t, c, item("full", "a", big))
	tests := []struct {
		name string
		call intent.Call
		want intent.Class
	}{
		{"no table", intent.Call{Op: store.OpPut, Table: "nobody", Item: item("a")}, intent.NoTable},
		{"too large", intent.Call{Op: store.OpPut, Table: "events", Item: item("a", "x", attr.S(strings.Repeat("x", 410<<10)))}, intent.TooLarge},
		{"grows too large", intent.Call{Op: store.OpUpdate, Table: "events", Key: item("full"), Update: "SET b = :b",
			Params: expr.Params{Values: attr.Item{":b": big}}}, intent.TooLarge},
		{"changed type", intent.Call{Op: store.OpUpdate, Table: "events", Key: item("r"), Update: "ADD s :one",
			Params: expr.Params{Values: attr.Item{":one": num("1")}}}, intent.Validation},
		{"no parent", intent.Call{Op: store.OpUpdate, Table: "events", Key: item("r"), Update: "SET a.b = :one",
			Params: expr.Params{Values: attr.Item{":one": num("1")}}}, intent.Validation},
		{"no key", intent.Call{Op: store.OpPut, Table: "events", Item: attr.Item{"x": num("1")}}, intent.Validation},
		{"a check alone", intent.Call{Table: "events", Key: item("r"), Condition: "attribute_exists(pk)"}, intent.Validation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Write(t.Context(), tt.call)
			e := sorted(t, err)
			if e.Class != tt.want {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if strings.Contains(e.Error(), "t-") {
				t.Errorf("the prefix is in %v", e)
			}
		})
	}
}

func testTransactions(t *testing.T, c *Client) {
	putItem(t, c, item("t1", "n", num("1")))
	one := expr.Params{Values: attr.Item{":one": num("1"), ":two": num("2")}}
	only := expr.Params{Values: attr.Item{":two": num("2")}}
	calls := []intent.Call{
		{Op: store.OpPut, Table: "events", Item: item("t2", "n", num("7")), Condition: "attribute_not_exists(pk)"},
		{Op: store.OpUpdate, Table: "events", Key: item("t1"), Update: "SET n = :two", Condition: "n = :one", Params: one},
		{Op: store.OpDelete, Table: "events", Key: item("t3")},
		{Table: "events", Key: item("t4"), Condition: "attribute_not_exists(pk)"},
	}
	if err := c.Transact(t.Context(), calls, "token-1"); err != nil {
		t.Fatal(err)
	}
	if err := c.Transact(t.Context(), calls, "token-1"); err != nil {
		t.Errorf("the same token again: %v", err)
	}
	if it := getItem(t, c, "t1"); !attr.EqualItems(it, item("t1", "n", num("2"))) {
		t.Errorf("%v", it)
	}
	e := sorted(t, c.Transact(t.Context(), calls[:1], "token-1"))
	if e.Class != intent.Unknown || failure(t, e).Code != "IdempotentParameterMismatchException" {
		t.Errorf("the token with other bytes: %v", e)
	}
	calls[3] = intent.Call{Table: "events", Key: item("t1"), Condition: "n <> :two", Params: only}
	calls[1].Key = item("t5")
	e = sorted(t, c.Transact(t.Context(), calls, "token-2"))
	if e.Class != intent.Canceled || len(e.Reasons) != 4 {
		t.Fatalf("%v %v", e, e.Reasons)
	}
	want := []intent.Class{intent.ConditionFailed, intent.ConditionFailed, intent.Applied, intent.ConditionFailed}
	for i, r := range e.Reasons {
		if r.Class != want[i] {
			t.Errorf("reason %d: %v", i, r)
		}
	}
	if !attr.EqualItems(e.Reasons[0].Old, item("t2", "n", num("7"))) || e.Reasons[1].Old != nil ||
		!attr.EqualItems(e.Reasons[3].Old, item("t1", "n", num("2"))) {
		t.Errorf("the conflicting items: %v", e.Reasons)
	}
	calls = []intent.Call{{Op: store.OpUpdate, Table: "events", Key: item("t1"), Update: "SET a.b = :two", Params: only}}
	e = sorted(t, c.Transact(t.Context(), calls, "token-3"))
	if e.Class != intent.Canceled && e.Class != intent.Validation || e.Class == intent.Canceled && e.Reasons[0].Class != intent.Validation {
		t.Errorf("an inapplicable update: %v %v", e, e.Reasons)
	}
}

// The cost of single writes as docs/cloud.md states it. DynamoDB Local counts a transaction as one write at double price, however many
// members it has; DynamoDB counts each member double, checks too (Developer Guide, "Transactions: capacity management").
func testUnits(t *testing.T, c *Client) {
	member := func(pk string) intent.Call { return intent.Call{Op: store.OpPut, Table: "events", Item: item(pk)} }
	one := func(w intent.Call) func() error {
		return func() error { _, err := c.Write(t.Context(), w); return err }
	}
	tests := []struct {
		name string
		do   func() error
		want float64
	}{
		{"put", one(member("u")), 1},
		{"update", one(intent.Call{Op: store.OpUpdate, Table: "events", Key: item("u"), Update: "REMOVE x"}), 1},
		{"delete", one(intent.Call{Op: store.OpDelete, Table: "events", Key: item("u")}), 1},
	}
	for _, tt := range tests {
		before := c.Usage().WriteUnits
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		if got := c.Usage().WriteUnits - before; got != tt.want {
			t.Errorf("%s: %v write units, want %v", tt.name, got, tt.want)
		}
	}
}

func testPages(t *testing.T, c *Client) {
	s := spec("pages")
	s.Key.Sort = store.KeyAttr{Name: "sk", Type: store.KeyNumber}
	define(t, c, s)
	const items = 25
	for i := range items {
		it := item(fmt.Sprint("p", i%2), "sk", attr.Int(int64(i)))
		if _, err := c.Write(t.Context(), intent.Call{Op: store.OpPut, Table: "pages", Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(r remote.Reading) (got []string, pages int) {
		for {
			p, err := c.Read(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, it := range p.Items {
				got = append(got, it["sk"].Str())
			}
			if p.LastKey == nil {
				return got, pages
			}
			r.After = p.LastKey
		}
	}
	all, pages := read(remote.Reading{Table: "pages", Limit: 10, Consistent: true})
	slices.Sort(all)
	if len(slices.Compact(all)) != items || pages < 3 {
		t.Errorf("a scan in %d pages: %v", pages, all)
	}
	query := remote.Reading{Table: "pages", Consistent: true, KeyCondition: "#p = :p AND sk > :k", Limit: 5, Params: expr.Params{
		Names: map[string]string{"#p": "pk"}, Values: attr.Item{":p": attr.S("p1"), ":k": num("3")},
	}}
	if got, pages := read(query); strings.Join(got, " ") != "5 7 9 11 13 15 17 19 21 23" || pages < 2 {
		t.Errorf("a query in %d pages: %v", pages, got)
	}
	if p, err := c.Read(t.Context(), remote.Reading{Table: "nobody"}); sorted(t, err).Class != intent.NoTable {
		t.Errorf("%v, %v", p, err)
	}
}

// A created table is described as it was requested.
func TestTables(t *testing.T) {
	c := local(t)
	want := store.TableSpec{
		Name: "matches", TTL: "ttl",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: store.KeyString}, Sort: store.KeyAttr{Name: "b", Type: store.KeyNumber}},
		Indexes: []store.IndexSpec{
			{Name: "by-c", Key: store.KeySpec{Partition: store.KeyAttr{Name: "c", Type: store.KeyBinary}}},
			{Name: "by-d", Projection: store.ProjectInclude, Include: []string{"x", "y"},
				Key: store.KeySpec{Partition: store.KeyAttr{Name: "b", Type: store.KeyNumber}, Sort: store.KeyAttr{Name: "d", Type: store.KeyString}}},
			{Name: "local", Local: true, Projection: store.ProjectKeysOnly,
				Key: store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: store.KeyString}, Sort: store.KeyAttr{Name: "e", Type: store.KeyString}}},
		},
	}
	if _, ok, err := c.Describe(t.Context(), "matches"); ok || err != nil {
		t.Fatalf("before it is created: %v, %v", ok, err)
	}
	if err := c.Create(t.Context(), want, true); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), want, true); !fault.Is(err, fault.Throttled) {
		t.Errorf("created twice: %v", err)
	}
	if err := c.SetExpiry(t.Context(), "matches", "ttl"); err != nil {
		t.Fatal(err)
	}
	got, ok, err := c.Describe(t.Context(), "matches")
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	if got.TTL, err = c.DescribeExpiry(t.Context(), "matches"); err != nil {
		t.Fatal(err)
	}
	byName := func(a, b store.IndexSpec) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(got.Indexes, byName)
	if g, w := fmt.Sprintf("%+v", got.TableSpec), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if got.Status != "ACTIVE" || !got.OnDemand || got.Stream != "NEW_AND_OLD_IMAGES" || got.ID == "" || got.RestoredFrom != "" {
		t.Errorf("%+v", got)
	}
}

// The replicator distinguishes a table from a later one of the same name.
func TestTableState(t *testing.T) {
	c := local(t)
	_, err := c.Table(t.Context(), "events")
	if sorted(t, err).Class != intent.NoTable {
		t.Errorf("no table: %v", err)
	}
	define(t, c, spec("events"))
	first, err := c.Table(t.Context(), "events")
	if err != nil || first.ID == "" || !first.RestoredAt.IsZero() {
		t.Errorf("%+v, %v", first, err)
	}
	if again, err := c.Table(t.Context(), "events"); err != nil || again != first {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := c.db.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: c.table("events")}); err != nil {
		t.Fatal(err)
	}
	define(t, c, spec("events"))
	if second, err := c.Table(t.Context(), "events"); err != nil || second.ID == first.ID {
		t.Errorf("the recreated table is %+v, as before: %v", second, err)
	}
}

// What a table lacks is added.
func TestAdditions(t *testing.T) {
	c := local(t)
	define(t, c, spec("plain"))
	index := store.IndexSpec{Name: "by-c", Key: store.KeySpec{Partition: store.KeyAttr{Name: "c", Type: store.KeyString}}}
	if err := c.AddIndex(t.Context(), spec("plain"), index); err != nil {
		t.Fatal(err)
	}
	for {
		d, _, err := c.Describe(t.Context(), "plain")
		if err != nil && !fault.Is(err, fault.Throttled) { // DynamoDB Local stumbles over a table that it is changing
			t.Fatal(err)
		}
		if len(d.Indexes) == 1 && len(d.Building) == 0 && d.Status == "ACTIVE" {
			break
		}
	}
	if err := c.SetStream(t.Context(), "plain"); err != nil {
		t.Fatal(err)
	}
	d, _, err := c.Describe(t.Context(), "plain")
	if err != nil || d.Stream != "NEW_AND_OLD_IMAGES" || d.Indexes[0].Name != "by-c" {
		t.Errorf("%+v, %v", d, err)
	}
	if ttl, err := c.DescribeExpiry(t.Context(), "plain"); err != nil || ttl != "" {
		t.Errorf("expiry %q, %v", ttl, err)
	}
}
