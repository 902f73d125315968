package expr

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

func TestRewrite(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"#a=:b", "#a1=:b1"},
		{"  SET  #a\n=\t:b ,c = :b ", "SET #a1 = :b1 ,c = :b1"},
		{"a.#b[0].c<>:x AND(size(#b)>:y)", "a.#b1[0].c<>:x1 AND(size(#b1)>:y1)"},
		{"", ""},
	} {
		if got := Rewrite(c.text, func(p string) string { return p + "1" }); got != c.want {
			t.Errorf("Rewrite(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSplitUpdate(t *testing.T) {
	for _, c := range []struct {
		text string
		want Clauses
	}{
		{"SET a = :a, b = if_not_exists(b, :b)", Clauses{Set: "a = :a, b = if_not_exists(b, :b)"}},
		{"remove x.y add n :one DELETE s :s set q = q - :v", Clauses{Set: "q = q - :v", Remove: "x.y", Add: "n :one", Delete: "s :s"}},
	} {
		got := SplitUpdate(c.text)
		if got != c.want {
			t.Errorf("SplitUpdate(%q) = %+v, want %+v", c.text, got, c.want)
		}
		if again := SplitUpdate(got.String()); again != got {
			t.Errorf("%q is read as %+v, not as %+v", got.String(), again, got)
		}
	}
}

func TestEnclosed(t *testing.T) {
	for text, want := range map[string]bool{
		"(a = :v)": true, "a = :v": false, "(a = :v) AND (b = :v)": false, "(a = :v OR b = :v)": true, "NOT (a = :v)": false,
	} {
		c, err := parseCondition(formCondition, text, Params{Values: attr.Item{":v": attr.Int(1)}})
		if err != nil {
			t.Fatal(err)
		}
		if c.IsEnclosed() != want {
			t.Errorf("%s: enclosed %v, want %v", text, c.IsEnclosed(), want)
		}
	}
}

func TestPlaces(t *testing.T) {
	params := Params{Names: map[string]string{"#m": "m"}, Values: attr.Item{":v": attr.Int(1), ":l": attr.L()}}
	c, err := parseCondition(formCondition, "#m.a[1].b = :v AND attribute_exists(x) OR size(y) > :v", params)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b Place) bool { return slices.Equal(a, b) }
	if got := c.Places(); !slices.EqualFunc(got, []Place{{"m", "a"}, {"x"}, {"y"}}, same) {
		t.Errorf("places of the condition: %q", got)
	}
	u, err := ParseUpdate("SET #m.a = :v, l = list_append(l, :l) REMOVE k[2] ADD n :v", params)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Places(); !slices.EqualFunc(got, []Place{{"m", "a"}, {"l"}, {"k"}, {"n"}}, same) {
		t.Errorf("places of the update: %q", got)
	}
	if set, remove, add, del, appends := u.Verbs(); !set || !remove || !add || del || !appends {
		t.Error("verbs", set, remove, add, del, appends)
	}
	if _, ok := u.Changes(); ok {
		t.Error("an update into a map is given as changes of whole attributes")
	}
	it := attr.Item{"m": attr.M(attr.Item{"a": attr.S("x")})}
	if got := (Place{"m", "a"}).ValueIn(it); got.Str() != "x" {
		t.Errorf("in the item: %s", got)
	}
	if got := (Place{"m", "b", "c"}).ValueIn(it); !got.IsZero() {
		t.Errorf("where nothing is: %s", got)
	}
	if got := ParsePlace(Place{"m", "a"}.String()); !same(got, Place{"m", "a"}) {
		t.Errorf("read back: %q", got)
	}
}

func TestChanges(t *testing.T) {
	u, err := ParseUpdate("SET a = :v REMOVE b ADD n :v", Params{Values: attr.Item{":v": attr.Int(1)}})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := u.Changes()
	want := []Change{{"SET", "a", attr.Int(1)}, {"REMOVE", "b", attr.Value{}}, {"ADD", "n", attr.Int(1)}}
	if !ok || !slices.EqualFunc(got, want, func(a, b Change) bool { return a.Verb == b.Verb && a.Name == b.Name && a.Value.Equal(b.Value) }) {
		t.Errorf("changes: %v, %v", got, ok)
	}
}
