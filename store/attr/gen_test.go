package attr_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// must returns the value of a constructor that cannot fail here.
func must(v attr.Value, err error) attr.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// num returns a number from a valid text.
func num(text string) attr.Value { return must(attr.N(text)) }

// rat returns a number as a fraction, the model for numbers.
func rat(t rapid.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number for math/big", text)
	}
	return r
}

// genDigits generates up to 38 digits.
func genDigits(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := rapid.SliceOfN(rapid.ByteRange('0', '9'), 1, most).Draw(t, "digits")
		return string(digits)
	})
}

// genNumberText generates texts of numbers in all spellings; every one fits DynamoDB.
func genNumberText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		sign := rapid.SampledFrom([]string{"", "", "-", "+"}).Draw(t, "sign")
		digits := genDigits(38).Draw(t, "all")
		if rapid.Bool().Draw(t, "short") {
			digits = genDigits(3).Draw(t, "few")
		}
		if point := rapid.IntRange(0, len(digits)).Draw(t, "point"); rapid.Bool().Draw(t, "fraction") {
			digits = digits[:point] + "." + digits[point:]
		}
		exponent := ""
		if rapid.Bool().Draw(t, "exponent") {
			exponent = rapid.SampledFrom([]string{"e2", "E+5", "e-3", "e80", "e-90", "e0"}).Draw(t, "e")
		}
		return sign + digits + exponent
	})
}

func genNumber() *rapid.Generator[attr.Value] {
	return rapid.Map(genNumberText(), num)
}

// genText generates strings that need escaping in JSON and in keys.
func genText() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "ab", "\x00", "\x00\x00", "\x01", "\"\\/", "\n\t", "é", "日本", "😀"}))
	return rapid.Map(rapid.SliceOfN(piece, 0, 3), func(s []string) string { return strings.ToValidUTF8(strings.Join(s, ""), "?") })
}

// genBytes generates binaries with many of the bytes used by escapes.
func genBytes() *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1, 2, 'a', 0xfe, 0xff}), 0, 6)
}

func genSet() *rapid.Generator[attr.Value] {
	text := rapid.Map(rapid.SliceOfNDistinct(genText(), 1, 4, rapid.ID), func(s []string) attr.Value { return must(attr.SS(s...)) })
	data := rapid.Map(rapid.SliceOfNDistinct(genBytes(), 1, 4, func(b []byte) string { return string(b) }),
		func(s [][]byte) attr.Value { return must(attr.BS(s...)) })
	numbers := rapid.Map(rapid.SliceOfNDistinct(genNumber(), 1, 4, attr.Value.Str), func(s []attr.Value) attr.Value {
		var texts []string
		for _, v := range s {
			texts = append(texts, v.Str())
		}
		return must(attr.NS(texts...))
	})
	return rapid.OneOf(text, data, numbers)
}

// genValue generates values of all types that nest up to depth levels.
func genValue(depth int) *rapid.Generator[attr.Value] {
	gens := []*rapid.Generator[attr.Value]{
		rapid.Map(genText(), attr.S), genNumber(), rapid.Map(genBytes(), attr.B),
		rapid.Map(rapid.Bool(), attr.Bool), rapid.Just(attr.Null()), genSet(),
	}
	if depth > 0 {
		deeper := rapid.Deferred(func() *rapid.Generator[attr.Value] { return genValue(depth - 1) })
		gens = append(gens,
			rapid.Map(rapid.SliceOfN(deeper, 0, 3), func(l []attr.Value) attr.Value { return attr.L(l...) }),
			rapid.Map(genItem(depth-1), attr.M))
	}
	return rapid.OneOf(gens...)
}

func genItem(depth int) *rapid.Generator[attr.Item] {
	deeper := rapid.Deferred(func() *rapid.Generator[attr.Value] { return genValue(depth) })
	return rapid.Map(rapid.MapOfN(genText(), deeper, 0, 5), func(m map[string]attr.Value) attr.Item { return m })
}

// deep returns n nested maps with a string in the innermost.
func deep(n int) attr.Value {
	v := attr.S("leaf")
	for range n {
		v = attr.M(attr.Item{"n": v})
	}
	return v
}

// deepList is deep with lists.
func deepList(n int) attr.Value {
	v := attr.S("leaf")
	for range n {
		v = attr.L(v)
	}
	return v
}

func wantSame(t rapid.TB, got, want attr.Item) {
	t.Helper()
	if !attr.EqualItems(got, want) {
		t.Fatalf("got  %s\nwant %s", attr.M(got), attr.M(want))
	}
}

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("code %q (%v), want %q", got, err, code)
	}
}
