package expr

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

// testKey returns a key whose values may have any type.
func testKey(partition, sort string) *Key {
	if sort == "" {
		return &Key{Attrs: []KeyAttr{{Name: partition}}, Partition: 1}
	}
	return &Key{Attrs: []KeyAttr{{Name: partition}, {Name: sort}}, Partition: 1}
}

func TestKeyRangeContains(t *testing.T) {
	sorts := []string{"", "a", "ab", "abc", "b", "c"}
	params := Params{Values: attr.Item{":p": attr.S("p"), ":v": attr.S("ab"), ":w": attr.S("b")}}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"pk = :p", sorts},
		{"pk = :p AND sk = :v", []string{"ab"}},
		{"pk = :p AND sk < :v", []string{"", "a"}},
		{"sk <= :v AND pk = :p", []string{"", "a", "ab"}},
		{"pk = :p AND sk > :v", []string{"abc", "b", "c"}},
		{"pk = :p AND sk >= :v", []string{"ab", "abc", "b", "c"}},
		{"pk = :p AND :v > sk", []string{"", "a"}},
		{"pk = :p AND :v >= sk", []string{"", "a", "ab"}},
		{"pk = :p AND :v < sk", []string{"abc", "b", "c"}},
		{"pk = :p AND :v <= sk", []string{"ab", "abc", "b", "c"}},
		{"pk = :p AND sk BETWEEN :v AND :w", []string{"ab", "abc", "b"}},
		{"pk = :p AND begins_with(sk, :v)", []string{"ab", "abc"}},
	} {
		r, err := ParseKeyCondition(c.text, params, testKey("pk", "sk"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range sorts {
			if r.Contains(attr.S(s)) {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, c.want) || r.Partition[0].Str() != "p" {
			t.Errorf("%s: %q of %q, want %q", c.text, got, r.Partition[0].Str(), c.want)
		}
		if r.Op != SortAny && r.Contains(attr.Int(1)) {
			t.Errorf("%s contains a number", c.text)
		}
	}
}

func TestKeyWithoutSort(t *testing.T) {
	params := Params{Values: attr.Item{":p": attr.S("p")}}
	r, err := ParseKeyCondition("pk = :p", params, testKey("pk", ""))
	if err != nil || r.Op != SortAny || r.Check(&Key{Attrs: []KeyAttr{{"pk", attr.KindS}}, Partition: 1}) != nil {
		t.Error(r, err)
	}
	_, err = ParseKeyCondition("pk = :p AND sk = :p", params, testKey("pk", ""))
	checkError(t, "a sort key that is not there", err, "", "Query key condition not supported")
}

func TestKeyMissing(t *testing.T) {
	params := Params{Values: attr.Item{":p": attr.S("p")}}
	for text, want := range map[string]string{
		"sk = :p":               "Query condition missed key schema element: pk",
		"pk = :p AND x = :p":    "Query condition missed key schema element: sk",
		"x = :p AND sk = :p":    "Query condition missed key schema element: pk",
		":p = :p":               "Invalid condition in KeyConditionExpression: No key attribute specified",
		"x.y = :p":              "KeyConditionExpressions cannot have conditions on nested attributes",
		"pk = :p AND sk.y = :p": "KeyConditionExpressions cannot have conditions on nested attributes",
	} {
		_, err := ParseKeyCondition(text, params, testKey("pk", "sk"))
		checkError(t, text, err, "", want)
	}
}

func TestKeyRangeCheck(t *testing.T) {
	s, n := attr.S("v"), attr.Int(1)
	const wrongType = "One or more parameter values were invalid: Condition parameter type does not match schema type"
	const empty = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an " +
		"empty string value. Key: "
	for _, c := range []struct {
		r    KeyRange
		want string
	}{
		{KeyRange{Partition: []attr.Value{s}, Op: SortEqual, Low: n}, ""},
		{KeyRange{Partition: []attr.Value{s}, Op: SortBetween, Low: n, High: n}, ""},
		{KeyRange{Partition: []attr.Value{n}}, wrongType},
		{KeyRange{Partition: []attr.Value{s}, Op: SortEqual, Low: s}, wrongType},
		{KeyRange{Partition: []attr.Value{s}, Op: SortBetween, Low: n, High: s}, wrongType},
		{KeyRange{Partition: []attr.Value{attr.S("")}}, empty + "pk"},
	} {
		err := c.r.Check(&Key{Attrs: []KeyAttr{{"pk", attr.KindS}, {"sk", attr.KindN}}, Partition: 1})
		checkError(t, "check", err, "", c.want)
	}
	err := KeyRange{Partition: []attr.Value{s}, Op: SortBeginsWith, Low: attr.S("")}.Check(&Key{Attrs: []KeyAttr{{"pk", attr.KindS}, {"sk", attr.KindS}}, Partition: 1})
	checkError(t, "empty prefix", err, "", empty+"sk")
}
