package dynamo

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
)

// genValue generates values of all ten types, including what is easily lost: empty values, and numbers of 38 digits.
func genValue(depth int) *rapid.Generator[attr.Value] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "\x00", "日本", "\"\\"}))
	number := rapid.Custom(func(t *rapid.T) string {
		digits := rapid.StringMatching(`-?[1-9][0-9]{0,37}`).Draw(t, "digits")
		return digits + rapid.SampledFrom([]string{"", "e-10", "e80", "E0"}).Draw(t, "exponent")
	})
	bytes := rapid.SliceOfN(rapid.Byte(), 0, 5)
	must := func(v attr.Value, err error) attr.Value {
		if err != nil {
			panic(err)
		}
		return v
	}
	kinds := []*rapid.Generator[attr.Value]{
		rapid.Map(text, attr.S), rapid.Map(number, num), rapid.Map(bytes, attr.B), rapid.Map(rapid.Bool(), attr.Bool),
		rapid.Just(attr.Null()),
		rapid.Map(rapid.SliceOfNDistinct(text, 1, 4, rapid.ID), func(s []string) attr.Value { return must(attr.SS(s...)) }),
		rapid.Map(rapid.SliceOfNDistinct(number, 1, 4, func(s string) string { return num(s).Str() }),
			func(s []string) attr.Value { return must(attr.NS(s...)) }),
		rapid.Map(rapid.SliceOfNDistinct(bytes, 1, 4, func(b []byte) string { return string(b) }),
			func(s [][]byte) attr.Value { return must(attr.BS(s...)) }),
	}
	if depth > 0 {
		inner := genValue(depth - 1)
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(inner, 0, 3), func(l []attr.Value) attr.Value { return attr.L(l...) }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 3), func(m map[string]attr.Value) attr.Value { return attr.M(m) }))
	}
	return rapid.OneOf(kinds...)
}

func genItem() *rapid.Generator[attr.Item] {
	return rapid.Map(rapid.MapOfN(rapid.StringN(1, 8, 30), genValue(3), 1, 5), func(m map[string]attr.Value) attr.Item { return m })
}

// An item survives conversion to the SDK's form and back, and that form is what the SDK itself makes of the item's JSON.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { roundTrip(rt, genItem().Draw(rt, "item")) })
}

func roundTrip(t rapid.TB, it attr.Item) {
	t.Helper()
	sdk := toItem(it)
	back, err := fromItem(sdk)
	if err != nil || !attr.EqualItems(back, it) || string(attr.AppendJSON(nil, back)) != string(attr.AppendJSON(nil, it)) {
		t.Fatalf("%s came back as %s, %v", attr.AppendJSON(nil, it), attr.AppendJSON(nil, back), err)
	}
	wire, err := attributevalue.MarshalMapJSON(sdk)
	if err != nil {
		t.Fatal(err)
	}
	if onWire, err := attr.ParseJSON(wire); err != nil || !attr.EqualItems(onWire, it) {
		t.Fatalf("%s is %s on the wire, %v", attr.AppendJSON(nil, it), wire, err)
	}
	theirs, err := attributevalue.UnmarshalMapJSON(attr.AppendJSON(nil, it))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(theirs, sdk) {
		t.Fatalf("the SDK converts %s differently", wire)
	}
}

// FuzzConvert feeds JSON items: every valid item survives conversion.
func FuzzConvert(f *testing.F) {
	corpus.Add(f)
	f.Add([]byte(`{"pk":{"S":"a"},"n":{"N":"1.50"},"l":{"L":[]},"m":{"M":{}},"b":{"B":""},"ns":{"NS":["1","2e3"]}}`))
	f.Add([]byte(`{"a":{"L":[{"M":{"x":{"BS":["AA==",""]}}},{"NULL":true},{"BOOL":false},{"SS":["",""]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		it, err := attr.ParseJSON(data)
		if err != nil || len(it) == 0 || attr.Check(it) != nil {
			return
		}
		roundTrip(t, it)
	})
}

// Empty values stay empty in the request: versions of the SDK have written nil slices as nothing.
func TestEmpty(t *testing.T) {
	it := attr.Item{"l": attr.L(), "m": attr.M(nil), "b": attr.B(nil), "s": attr.S("")}
	wire, err := attributevalue.MarshalMapJSON(toItem(it))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(wire, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"l": `{"L":[]}`, "m": `{"M":{}}`, "b": `{"B":""}`, "s": `{"S":""}`} {
		if string(got[name]) != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	if toItem(nil) != nil {
		t.Error("no item becomes an empty one")
	}
}

// A value that DynamoDB does not have is refused, wherever it is.
func TestNoValues(t *testing.T) {
	bad := map[string]types.AttributeValue{
		"number":     &types.AttributeValueMemberN{Value: "x"},
		"digits":     &types.AttributeValueMemberN{Value: strings.Repeat("1", 39)},
		"twice":      &types.AttributeValueMemberSS{Value: []string{"a", "a"}},
		"empty set":  &types.AttributeValueMemberNS{},
		"in a list":  &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberN{Value: ""}}},
		"in a map":   &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"x": nil}},
		"of no type": nil,
		"new type":   &types.UnknownUnionMember{Tag: "X"},
	}
	for name, v := range bad {
		if got, err := fromItem(map[string]types.AttributeValue{name: v}); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
