package attr_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// Every accessor returns the content of its own type and the zero value for other types.
func TestAccessors(t *testing.T) {
	values := map[attr.Kind]attr.Value{
		attr.KindS: attr.S("x"), attr.KindN: attr.Int(7), attr.KindB: attr.B([]byte{1, 2}), attr.KindBool: attr.Bool(true),
		attr.KindNull: attr.Null(), attr.KindL: attr.L(attr.S("x")), attr.KindM: attr.M(attr.Item{"a": attr.S("x")}),
		attr.KindSS: must(attr.SS("b", "a")), attr.KindNS: must(attr.NS("10", "9")), attr.KindBS: must(attr.BS([]byte("x"))),
		0: {},
	}
	for kind, v := range values {
		n, isInt := v.Int()
		for _, c := range []struct {
			name      string
			got, want bool
		}{
			{"Kind", v.Kind() == kind, true},
			{"IsZero", v.IsZero(), kind == 0},
			{"Str", v.Str() != "", kind == attr.KindS || kind == attr.KindN},
			{"Int", isInt && n == 7, kind == attr.KindN},
			{"Bytes", slices.Equal(v.Bytes(), []byte{1, 2}), kind == attr.KindB},
			{"Bool", v.Bool(), kind == attr.KindBool},
			{"List", len(v.List()) == 1, kind == attr.KindL},
			{"Map", len(v.Map()) == 1, kind == attr.KindM},
			{"Strs", len(v.Strs()) == 2, kind == attr.KindSS || kind == attr.KindNS},
			{"ByteSets", len(v.ByteSets()) == 1, kind == attr.KindBS},
		} {
			if c.got != c.want {
				t.Errorf("%s of a %q: %v", c.name, kind, v)
			}
		}
	}
}

func TestKindNames(t *testing.T) {
	for k := attr.KindS; k <= attr.KindBS; k++ {
		if got, ok := attr.ParseKind(k.String()); !ok || got != k {
			t.Errorf("ParseKind(%q) = %v, %v", k.String(), got, ok)
		}
	}
	for _, name := range []string{"", "s", "BOOLEAN"} {
		if k, ok := attr.ParseKind(name); ok {
			t.Errorf("ParseKind(%q) = %v", name, k)
		}
	}
}

// Bytes passed to a value or returned by it can be written to without changing the value.
func TestBinaryIsCopied(t *testing.T) {
	in := []byte("abc")
	v, set := attr.B(in), must(attr.BS(in))
	in[0] = 'X'
	v.Bytes()[1] = 'X'
	set.ByteSets()[0][1] = 'X'
	if string(v.Bytes()) != "abc" || string(set.ByteSets()[0]) != "abc" {
		t.Errorf("changed to %s and %s", v, set)
	}
}

func TestSets(t *testing.T) {
	if a, b := must(attr.NS("10", "9", "-1.0")), must(attr.NS("-1", "1e1", "9")); !attr.Equal(a, b) {
		t.Errorf("%s is not %s", a, b)
	}
	if got := must(attr.NS("10", "9", "-3")).Strs(); !slices.Equal(got, []string{"-3", "9", "10"}) {
		t.Errorf("number set in the order %v", got)
	}
	in := []string{"b", "a"}
	if must(attr.SS(in...)); in[0] != "b" {
		t.Error("SS sorted its caller's slice")
	}
	const of = "One or more parameter values were invalid: "
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no strings", second(attr.SS()), of + "An string set  may not be empty"},
		{"no numbers", second(attr.NS()), of + "An number set  may not be empty"},
		{"no binaries", second(attr.BS()), of + "Binary sets should not be empty"},
		{"string twice", second(attr.SS("a", "b", "a")), of + "Input collection [a, b, a] contains duplicates."},
		{"number twice", second(attr.NS("1", "1.0")), "Input collection contains duplicates"},
		{"binary twice", second(attr.BS([]byte("b"), []byte("b"))), of + "Input collection [Yg==, Yg==]of type BS contains duplicates."},
		{"no number", second(attr.NS("1", "b")), "The parameter cannot be converted to a numeric value: b"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%s: %v; want %s", c.name, c.err, c.want)
		}
		wantCode(t, c.err, "validation")
	}
}

func second(_ attr.Value, err error) error { return err }

func TestEqual(t *testing.T) {
	item := func(v attr.Value) attr.Value { return attr.M(attr.Item{"a": v}) }
	different := []attr.Value{
		{}, attr.Null(), attr.S(""), attr.S("1"), attr.Int(1), attr.B([]byte("1")), attr.Bool(true), attr.Bool(false),
		attr.L(), attr.L(attr.S("1")), attr.L(attr.S("1"), attr.S("2")), attr.L(attr.S("2"), attr.S("1")),
		attr.M(nil), item(attr.S("1")), item(attr.S("2")), attr.M(attr.Item{"b": attr.S("1")}),
		must(attr.SS("1")), must(attr.SS("2")), must(attr.SS("1", "2")), must(attr.NS("1")), must(attr.BS([]byte("1"))),
	}
	for i, a := range different {
		for j, b := range different {
			if attr.Equal(a, b) != (i == j) {
				t.Errorf("Equal(%s, %s) = %v", a, b, i != j)
			}
		}
	}
	for _, c := range [][2]attr.Value{
		{num("1.0"), attr.Int(1)}, {must(attr.SS("a", "b")), must(attr.SS("b", "a"))}, {attr.M(nil), attr.M(attr.Item{})},
		{attr.L(), attr.L([]attr.Value{}...)}, {item(num("1e1")), item(attr.Int(10))},
	} {
		if !attr.Equal(c[0], c[1]) || !cmp.Equal(c[0], c[1]) {
			t.Errorf("%s is not equal to %s", c[0], c[1])
		}
	}
}

func TestCompare(t *testing.T) {
	ascending := [][]attr.Value{
		{attr.S(""), attr.S("\x00"), attr.S("A"), attr.S("a"), attr.S("a\x00"), attr.S("aa"), attr.S("b"), attr.S("é"), attr.S("日"), attr.S("😀")},
		{attr.B(nil), attr.B([]byte{0}), attr.B([]byte{0, 0}), attr.B([]byte{1}), attr.B([]byte{0xff})},
		{
			num("-9e125"), num("-10"), num("-9.5"), num("-9"), num("-0.5"), num("-1e-130"), num("0"), num("1e-130"), num("0.05"),
			num("0.5"), num("0.51"), num("1"), num("9.75"), num("9.8"), num("10"), num("100"), num("9e125"),
		},
	}
	for _, group := range ascending {
		for i, a := range group {
			for j, b := range group {
				want := min(1, max(-1, i-j))
				if got, ok := attr.Compare(a, b); !ok || got != want {
					t.Errorf("Compare(%s, %s) = %d, %v; want %d", a, b, got, ok, want)
				}
			}
		}
	}
	for _, c := range [][2]attr.Value{
		{attr.S("1"), attr.Int(1)}, {attr.S("1"), attr.B([]byte("1"))}, {attr.Bool(true), attr.Bool(true)}, {attr.Null(), attr.Null()},
		{attr.L(), attr.L()}, {attr.M(nil), attr.M(nil)}, {must(attr.SS("a")), must(attr.SS("a"))}, {{}, {}},
	} {
		if got, ok := attr.Compare(c[0], c[1]); ok || got != 0 {
			t.Errorf("Compare(%s, %s) = %d, %v", c[0], c[1], got, ok)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		v    attr.Value
		want int
	}{
		{attr.S(""), 0}, {attr.S("abc"), 3}, {attr.S("日本"), 6}, {attr.B([]byte{0, 1}), 2}, {attr.Bool(false), 1}, {attr.Null(), 1},
		{num("0"), 1}, {num("1"), 2}, {num("12"), 2}, {num("123"), 3}, {num("-123"), 4}, {num("1000"), 2}, {num("1200"), 2},
		{num("1.5"), 3}, {num("100.5"), 4}, {num("0.5"), 2}, {num("0.005"), 2}, {num("-0.0125"), 4}, {num("1e125"), 2},
		{num("12345678901234567890123456789012345678"), 20},
		{attr.L(), 3}, {attr.L(attr.S("ab"), attr.Null()), 3 + 3 + 2}, {attr.M(nil), 3},
		{attr.M(attr.Item{"name": attr.S("ab")}), 3 + 1 + 4 + 2},
		{must(attr.SS("a", "bc")), 3}, {must(attr.NS("1", "123")), 5}, {must(attr.BS([]byte("abcd"))), 4},
	} {
		if got := attr.SizeOf(c.v); got != c.want {
			t.Errorf("%s takes %d bytes, want %d", c.v, got, c.want)
		}
	}
	if got := attr.Size(attr.Item{"pk": attr.S("x"), "né": attr.Int(5)}); got != 2+1+3+2 {
		t.Errorf("item takes %d bytes", got)
	}
}

func TestCheck(t *testing.T) {
	full := attr.Item{"a": attr.B(make([]byte, attr.MaxItemSize-1))}
	over := attr.Item{"a": attr.B(make([]byte, attr.MaxItemSize))}
	for _, c := range []struct {
		name string
		it   attr.Item
		want string
	}{
		{"largest", full, ""},
		{"too large", over, "Item size has exceeded the maximum allowed size"},
		{"level 32", attr.Item{"a": deep(31)}, ""},
		{"empty list at level 32", attr.Item{"a": attr.L(deep(30), attr.L())}, ""},
		{"level 33", attr.Item{"a": deep(32)}, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
		{"level 33 in a list", attr.Item{"a": attr.L(deep(31))}, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
		{"absent", attr.Item{"a": {}}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"absent in a list", attr.Item{"a": attr.L(attr.Value{})}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
	} {
		got := ""
		if err := attr.Check(c.it); err != nil {
			got = err.Error()
			wantCode(t, err, "validation")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The order and equality of numbers do not depend on how often a value went through a set.
func TestNumberSetOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := genSet().Filter(func(v attr.Value) bool { return v.Kind() == attr.KindNS }).Draw(t, "set")
		members := set.Strs()
		if !slices.IsSortedFunc(members, func(a, b string) int { return rat(t, a).Cmp(rat(t, b)) }) {
			t.Fatalf("%v is not ascending", members)
		}
	})
}

// TestEncodedMeasure: size and validity of an item are determined without decoding it.
func TestEncodedMeasure(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		it := genItem(3).Draw(rt, "item")
		want, wantErr := attr.Measure(it)
		got, err := attr.Encoded(attr.Encode(nil, it)).Measure()
		if (err == nil) != (wantErr == nil) || got != want {
			rt.Errorf("got %d, %v; want %d, %v", got, err, want, wantErr)
		}
	})
	for name, e := range map[string]attr.Encoded{
		"nothing":       nil,
		"no name":       attr.Encode(nil, attr.Item{"": attr.S("x")}),
		"cut short":     attr.Encode(nil, attr.Item{"a": attr.S("xyz")})[:5],
		"more after it": append(attr.Encode(nil, attr.Item{"a": attr.S("xyz")}), 1),
	} {
		if size, err := e.Measure(); err == nil {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}
