package expr

import (
	"reflect"
	"slices"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

func mustUpdate(t testing.TB, text string, values attr.Item) *Update {
	t.Helper()
	u, err := ParseUpdate(text, Params{Values: values})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return u
}

// TestApplyShares: what the update leaves alone shares memory with the old item; what is on the path to a change is new.
func TestApplyShares(t *testing.T) {
	it := mustItem(t, `{"a":{"N":"1"},"m":{"M":{"x":{"N":"1"},"far":{"M":{"y":{"N":"1"}}},"deep":{"M":{"z":{"N":"1"}}}}},
		"other":{"M":{"q":{"N":"1"}}},"l":{"L":[{"M":{"i":{"N":"0"}}},{"M":{"i":{"N":"1"}}}]}}`)
	got, err := mustUpdate(t, "SET m.deep.z = :x, l[1].i = :x", attr.Item{":x": attr.Int(2)}).Apply(it)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		path   []any
		shared bool
	}{
		{"another attribute", []any{"other"}, true},
		{"the map changed", []any{"m"}, false},
		{"a map beside the one changed", []any{"m", "far"}, true},
		{"the inner map changed", []any{"m", "deep"}, false},
		{"a list element beside the one changed", []any{"l", 0}, true},
		{"the list element changed", []any{"l", 1}, false},
	} {
		before := modelLookup(attr.M(it), c.path).Map()
		after := modelLookup(attr.M(got), c.path).Map()
		if same := reflect.ValueOf(before).Pointer() == reflect.ValueOf(after).Pointer(); same != c.shared {
			t.Errorf("%s: shared is %v", c.name, same)
		}
	}
}

func TestApplyCreates(t *testing.T) {
	u := mustUpdate(t, "SET created = if_not_exists(created, :now), twin = pk ADD n :one REMOVE gone DELETE s :s", attr.Item{
		":now": attr.S("now"), ":one": attr.Int(1), ":s": set(attr.SS("x"))})
	for range 2 { // an update can be applied again
		got, err := u.Apply(attr.Item{"pk": attr.S("k")})
		want := attr.Item{"pk": attr.S("k"), "created": attr.S("now"), "twin": attr.S("k"), "n": attr.Int(1)}
		if err != nil || !attr.Equal(attr.M(got), attr.M(want)) {
			t.Fatalf("%v %v", got, err)
		}
	}
	if got, err := mustUpdate(t, "REMOVE a", nil).Apply(nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
}

// TestManyPaths: the paths of a long update are found with a map, and overlaps are still detected.
func TestManyPaths(t *testing.T) {
	text := "REMOVE m.a0"
	item := attr.Item{"m": attr.M(attr.Item{"keep": attr.Int(1)})}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		text += ", " + string(c) + "1, m." + string(c) + "1"
		item[string(c)+"1"] = attr.Int(1)
		item["m"].Map()[string(c)+"1"] = attr.Int(1)
	}
	got, err := mustUpdate(t, text, nil).Apply(item)
	want := attr.Item{"m": attr.M(attr.Item{"keep": attr.Int(1)})}
	if err != nil || !attr.Equal(attr.M(got), attr.M(want)) {
		t.Errorf("%v %v", got, err)
	}
	_, err = ParseUpdate(text+", q1.x", Params{})
	checkError(t, "overlap", err, "Invalid UpdateExpression: ", "Two document paths overlap with each other; "+
		"must remove or rewrite one of these paths; path one: [q1], path two: [q1, x]")
	_, err = ParseUpdate(text+", m.q1", Params{})
	checkError(t, "overlap", err, "Invalid UpdateExpression: ", "Two document paths overlap with each other; "+
		"must remove or rewrite one of these paths; path one: [m, q1], path two: [m, q1]")
}

func TestUpdateAttributes(t *testing.T) {
	u, err := ParseUpdate("REMOVE m.x, l[0] SET #s = :v, m.y = another ADD n :v", Params{
		Names: map[string]string{"#s": "status"}, Values: attr.Item{":v": attr.Int(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := u.Attributes(), []string{"m", "l", "status", "n"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestUpdateProject: UPDATED_OLD and UPDATED_NEW show the places that the update changes and nothing else.
func TestUpdateProject(t *testing.T) {
	u := mustUpdate(t, "SET m.x = :x, fresh = :x REMOVE gone", attr.Item{":x": attr.Int(2)})
	before := mustItem(t, `{"pk":{"S":"k"},"m":{"M":{"x":{"N":"1"},"y":{"N":"1"}}},"gone":{"S":"soon"}}`)
	after, err := u.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	if got := canonical(attr.AppendJSON(nil, u.Project(before))); got != `{"gone":{"S":"soon"},"m":{"M":{"x":{"N":"1"}}}}` {
		t.Error("before:", got)
	}
	if got := canonical(attr.AppendJSON(nil, u.Project(after))); got != `{"fresh":{"N":"2"},"m":{"M":{"x":{"N":"2"}}}}` {
		t.Error("after:", got)
	}
}

// TestApplyNumbers: arithmetic is exact; a result with more than 38 digits is refused, not rounded.
func TestApplyNumbers(t *testing.T) {
	it := attr.Item{"n": number("99999999999999999999999999999999999999")}
	u := mustUpdate(t, "SET n = n - :x", attr.Item{":x": number("0.5")})
	if got, err := u.Apply(it); err == nil {
		t.Errorf("%v, want an error", got["n"].Str())
	}
	got, err := mustUpdate(t, "ADD n :x", attr.Item{":x": attr.Int(1)}).Apply(it)
	if err != nil || got["n"].Str() != "100000000000000000000000000000000000000" {
		t.Errorf("%v %v", got["n"].Str(), err)
	}
}
