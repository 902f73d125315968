package legacy

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// valueGen generates values of every type.
func valueGen(t testing.TB) *rapid.Generator[Value] {
	t.Helper()
	must := func(v attr.Value, err error) attr.Value {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	values := []attr.Value{
		attr.S("a"), attr.S(""), attr.Int(1), attr.Int(2), attr.B([]byte("a")), attr.Bool(true), attr.Null(), must(attr.SS("a", "b")),
		must(attr.NS("1", "2")), must(attr.BS([]byte("a"))), attr.L(attr.S("a"), attr.Int(1)), attr.M(attr.Item{"a": attr.S("a")}),
	}
	return rapid.Map(rapid.SampledFrom(values), func(v attr.Value) Value { return Value{V: v} })
}

var names = []string{"a", "b", "size", "x.y", "#0", ":0", "é"}

func comparisonGen(t testing.TB) *rapid.Generator[Comparison] {
	t.Helper()
	return rapid.Custom(func(t2 *rapid.T) Comparison {
		return Comparison{
			Name: rapid.SampledFrom(names).Draw(t2, "name"), Operator: rapid.SampledFrom(Operators()).Draw(t2, "operator"),
			Values: rapid.SliceOfN(valueGen(t), 0, 3).Draw(t2, "values"), Listed: true,
		}
	})
}

// given returns parameters that a request has besides its legacy ones, with the names that a builder prefers.
func given() expr.Params {
	return expr.Params{Names: map[string]string{"#0": "given", "#1": "other"}, Values: attr.Item{":0": attr.S("given"), ":1": attr.S("other")}}
}

// TestAcceptedFiltersAreExpressions: accepted comparisons become an expression that binds beside the request's own FilterExpression,
// and is true exactly when they are.
func TestAcceptedFiltersAreExpressions(t *testing.T) {
	all, items := comparisonGen(t), rapid.MapOf(rapid.SampledFrom(names), valueGen(t))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(all, 1, 4, func(c Comparison) string { return c.Name }).Draw(t, "comparisons")
		or := rapid.Bool().Draw(t, "or")
		item := attr.Item{}
		for name, v := range items.Draw(t, "item") {
			item[name] = v.V
		}
		if CheckComparisons(list) != nil {
			return
		}
		b := NewBuilder(given())
		r := expr.Request{Condition: b.Filter(list, or), Filter: "#0 = :0 OR #1 = :1"}
		r.Params = b.Params()
		bound, err := expr.Bind(r)
		if err != nil {
			t.Fatalf("%s %v: %v", r.Condition, r.Params, err)
		}
		got, err := bound.Condition.Match(expr.Item(item))
		if err != nil {
			t.Fatal(err)
		}
		want := !or
		for i := range list {
			if holds(&list[i], item[list[i].Name]) == or {
				want = or
			}
		}
		if got != want {
			t.Fatalf("%s of %s: %v, want %v", r.Condition, attr.M(item), got, want)
		}
		if match, err := bound.Filter.Match(expr.Item{"given": attr.S("given")}); err != nil || !match {
			t.Fatalf("the request's own parameters are others: %v %v", r.Params, err)
		}
	})
}

// holds evaluates a comparison without expressions.
func holds(c *Comparison, v attr.Value) bool {
	one := func(i int) attr.Value { return c.Values[i].V }
	in := func(least, most int) bool {
		low, ok := attr.Compare(v, one(0))
		high, _ := attr.Compare(v, one(len(c.Values)-1))
		return ok && low >= least && low <= 1 && high <= most
	}
	has := func() bool {
		match, err := expr.ParseFilter("contains(a, :a)", expr.Params{Values: attr.Item{":a": one(0)}})
		if err != nil || v.IsZero() {
			return false
		}
		holds, _ := match.Match(expr.Item{"a": v})
		return holds
	}
	switch c.Operator {
	case "NULL":
		return v.IsZero()
	case "NOT_NULL":
		return !v.IsZero()
	case "EQ", "IN":
		for i := range c.Values {
			if attr.Equal(v, one(i)) {
				return true
			}
		}
		return false
	case "NE":
		return !attr.Equal(v, one(0))
	case "LT":
		return in(-1, -1)
	case "LE":
		return in(-1, 0)
	case "GT":
		return in(1, 1)
	case "GE":
		return in(0, 1)
	case "BETWEEN":
		return in(0, 0)
	case "CONTAINS":
		return has()
	case "NOT_CONTAINS":
		return !v.IsZero() && !has()
	}
	return v.Kind() == one(0).Kind() && len(v.Str()) >= len(one(0).Str()) && v.Str()[:len(one(0).Str())] == one(0).Str() &&
		string(v.Bytes()) == string(one(0).Bytes())
}

// TestAcceptedChangesAreExpressions: accepted changes become an update that binds and changes what they name.
func TestAcceptedChangesAreExpressions(t *testing.T) {
	value := valueGen(t)
	change := rapid.Custom(func(t *rapid.T) Change {
		c := Change{Name: rapid.SampledFrom(names).Draw(t, "name"), Action: rapid.SampledFrom([]string{"", "PUT", "ADD", "DELETE"}).Draw(t, "action")}
		if rapid.Bool().Draw(t, "valued") {
			v := value.Draw(t, "value")
			c.Value = &v
		}
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(change, 1, 5, func(c Change) string { return c.Name }).Draw(t, "changes")
		if CheckChanges(list) != nil {
			return
		}
		b := NewBuilder(expr.Params{})
		r := expr.Request{Update: b.Update(list)}
		r.Params = b.Params()
		bound, err := expr.Bind(r)
		if err != nil {
			t.Fatalf("%s: %v", r.Update, err)
		}
		got, err := bound.Update.Apply(attr.Item{"pk": attr.S("k")})
		if err != nil {
			t.Fatalf("%s: %v", r.Update, err)
		}
		want := attr.Item{"pk": attr.S("k")}
		for _, c := range list {
			if c.Action != "DELETE" {
				want[c.Name] = c.Value.V
			}
		}
		if !attr.EqualItems(got, want) {
			t.Fatalf("%s: %s, want %s", r.Update, attr.M(got), attr.M(want))
		}
	})
}

// TestManyParameters: placeholders are short enough for the largest requests.
func TestManyParameters(t *testing.T) {
	var changes []Change
	var expected []Expectation
	var wanted []string
	for i := range 300 {
		name := fmt.Sprintf("attribute%d", i)
		changes = append(changes, Change{Name: name, Value: &Value{V: attr.Int(int64(i))}})
		wanted = append(wanted, name)
		if i < 150 {
			expected = append(expected, Expectation{Comparison: Comparison{Name: name}, Value: &Value{V: attr.Int(int64(i))}})
		}
	}
	b := NewBuilder(expr.Params{})
	r := expr.Request{Update: b.Update(changes), Condition: b.Condition(expected, false), Projection: b.Projection(wanted)}
	r.Params = b.Params()
	if _, err := expr.Bind(r); err != nil {
		t.Error(err)
	}
}

// TestManyValuesOfIN: a legacy IN may have more values than an expression's, with the same meaning.
func TestManyValuesOfIN(t *testing.T) {
	for _, n := range []int{100, 101, 27_500} {
		c := Comparison{Name: "a", Operator: "IN", Compared: true, Listed: true}
		for i := range n {
			c.Values = append(c.Values, Value{V: attr.Int(int64(i))})
		}
		b := NewBuilder(expr.Params{})
		text := b.Filter([]Comparison{c}, false)
		filter, err := expr.ParseFilter(text, b.Params())
		if err != nil {
			t.Fatalf("%d values: %v", n, err)
		}
		for _, of := range []struct {
			item attr.Item
			want bool
		}{
			{attr.Item{"a": attr.Int(int64(n - 1))}, true}, {attr.Item{"a": attr.Int(int64(n))}, false},
			{attr.Item{"a": attr.S("1")}, false}, {attr.Item{"b": attr.Int(1)}, false}, {attr.Item{"a": attr.L(attr.Int(1))}, false},
		} {
			if got, err := filter.Match(expr.Item(of.item)); got != of.want || err != nil {
				t.Errorf("%d values: %v is %v, %v", n, of.item, got, err)
			}
		}
	}
}

// TestManyAttributes: legacy parameters may name more attributes than fit into an expression.
func TestManyAttributes(t *testing.T) {
	const n = 2000
	var changes []Change
	var expected []Expectation
	it := attr.Item{}
	for i := range n {
		name := fmt.Sprintf("attribute%d", i)
		v := &Value{V: attr.Int(int64(i))}
		changes = append(changes, Change{Name: name, Value: v})
		expected = append(expected, Expectation{Comparison: Comparison{Name: name}, Value: v})
		it[name] = v.V
	}
	b := NewBuilder(expr.Params{})
	bound, err := expr.Bind(expr.Request{Update: b.Update(changes), Condition: b.Condition(expected, false), Params: b.Params()})
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := bound.Condition.Match(expr.Item(it)); !holds || err != nil {
		t.Errorf("the condition is %v, %v", holds, err)
	}
	it["attribute1999"] = attr.Int(0)
	if holds, err := bound.Condition.Match(expr.Item(it)); holds || err != nil {
		t.Errorf("of another item it is %v, %v", holds, err)
	}
}
