package attr_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
)

func key(t testing.TB, vs ...attr.Value) []byte {
	t.Helper()
	var dst []byte
	for _, v := range vs {
		var err error
		if dst, err = attr.AppendKey(dst, v); err != nil {
			t.Fatal(err)
		}
	}
	return dst
}

// Data on disk must stay in order: these bytes never change.
func TestKeyFormat(t *testing.T) {
	for _, c := range []struct {
		v    attr.Value
		want string
	}{
		{attr.S(""), "0001"}, {attr.S("ab"), "61620001"}, {attr.S("a\x00b"), "6100ff620001"}, {attr.B([]byte{0xff, 0}), "ff00ff0001"},
		{num("0"), "02"}, {num("1"), "03820b00"}, {num("-1"), "017df4ff"}, {num("12.3"), "03830d1f00"},
		{num("9e125"), "03ff5b00"}, {num("1e-130"), "03000b00"}, {num("99"), "03836400"}, {num("0.01"), "03800b00"},
	} {
		if got := hex.EncodeToString(key(t, c.v)); got != c.want {
			t.Errorf("key of %s is %s, want %s", c.v, got, c.want)
		}
		back, rest, err := attr.ReadKey(key(t, c.v), c.v.Kind())
		if err != nil || !attr.Equal(back, c.v) || len(rest) != 0 {
			t.Errorf("key of %s is read as %s, rest %x, %v", c.v, back, rest, err)
		}
	}
}

func genScalar() *rapid.Generator[attr.Value] {
	return rapid.OneOf(genNumber(), rapid.Map(genText(), attr.S), rapid.Map(genBytes(), attr.B))
}

// The bytes of two composite keys sort as the values do, part by part, and are read back unchanged.
func TestKeyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a1 := genScalar().Draw(t, "a1")
		b1 := genScalar().Filter(func(v attr.Value) bool { return v.Kind() == a1.Kind() }).Draw(t, "b1")
		if rapid.Bool().Draw(t, "same partition") {
			b1 = a1
		}
		a2, b2 := genNumber().Draw(t, "a2"), genNumber().Draw(t, "b2")
		a, b := rapidKey(t, a1, a2), rapidKey(t, b1, b2)
		want, _ := attr.Compare(a1, b1)
		if want == 0 {
			want, _ = attr.Compare(a2, b2)
		}
		if got := bytes.Compare(a, b); got != want {
			t.Fatalf("%s %s against %s %s: keys %x and %x order %d, want %d", a1, a2, b1, b2, a, b, got, want)
		}
		first, rest, err := attr.ReadKey(a, a1.Kind())
		if err != nil || !attr.Equal(first, a1) {
			t.Fatalf("read %s, %v; want %s", first, err, a1)
		}
		second, rest, err := attr.ReadKey(rest, attr.KindN)
		if err != nil || !attr.Equal(second, a2) || len(rest) != 0 {
			t.Fatalf("read %s, rest %x, %v; want %s", second, rest, err, a2)
		}
	})
}

func rapidKey(t *rapid.T, vs ...attr.Value) []byte {
	var dst []byte
	for _, v := range vs {
		var err error
		if dst, err = attr.AppendKey(dst, v); err != nil {
			t.Fatal(err)
		}
	}
	return dst
}

func TestKeyPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, prefix := genText().Draw(t, "text"), genText().Draw(t, "prefix")
		if rapid.Bool().Draw(t, "begins") {
			text = prefix + text
		}
		start, err := attr.AppendKeyPrefix(nil, attr.S(prefix))
		if err != nil {
			t.Fatal(err)
		}
		want := len(text) >= len(prefix) && text[:len(prefix)] == prefix
		if got := bytes.HasPrefix(rapidKey(t, attr.S(text)), start); got != want {
			t.Fatalf("%q begins with %q: %v", text, prefix, got)
		}
	})
}

func TestKeyRefuses(t *testing.T) {
	for _, v := range []attr.Value{{}, attr.Bool(true), attr.Null(), attr.L(), attr.M(nil), must(attr.SS("a"))} {
		dst, err := attr.AppendKey([]byte("x"), v)
		if !fault.Is(err, fault.Invalid) || string(dst) != "x" {
			t.Errorf("key of %s: %q, %v", v, dst, err)
		}
		if _, _, err := attr.ReadKey([]byte{2}, v.Kind()); !fault.Is(err, fault.Invalid) {
			t.Errorf("key read as %s: %v", v.Kind(), err)
		}
	}
	if _, err := attr.AppendKeyPrefix(nil, attr.Int(1)); !fault.Is(err, fault.Invalid) {
		t.Errorf("prefix of a number: %v", err)
	}
	for name, c := range map[string]struct {
		kind attr.Kind
		text string
	}{
		"empty string":             {attr.KindS, ""},
		"string without end":       {attr.KindS, "6162"},
		"string cut in its end":    {attr.KindS, "616200"},
		"an escape of nothing":     {attr.KindB, "610002"},
		"empty number":             {attr.KindN, ""},
		"no sign":                  {attr.KindN, "04"},
		"no exponent":              {attr.KindN, "03"},
		"no digits":                {attr.KindN, "038200"},
		"no end":                   {attr.KindN, "03820b"},
		"a pair of 101":            {attr.KindN, "03826600"},
		"a leading zero":           {attr.KindN, "03820500"},
		"a pair of zeros":          {attr.KindN, "03820b0100"},
		"forty digits":             {attr.KindN, "0382" + hex.EncodeToString(bytes.Repeat([]byte{0x0c}, 20)) + "00"},
		"negative, end of another": {attr.KindN, "017df400"},
	} {
		src, err := hex.DecodeString(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if v, _, err := attr.ReadKey(src, c.kind); !fault.Is(err, fault.Damaged) {
			t.Errorf("%s: %s, %v", name, v, err)
		}
	}
}

// AppendKey writes whatever ReadKey accepts with the same bytes: no key has two forms.
func FuzzReadKey(f *testing.F) {
	for _, v := range []attr.Value{attr.S("a\x00b"), num("-12.5"), num("1e100"), num("0"), attr.B([]byte{0, 255})} {
		f.Add(key(f, v), uint8(v.Kind()))
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		v, rest, err := attr.ReadKey(slices.Clone(data), attr.Kind(kind))
		if err != nil {
			return
		}
		if again := append(key(t, v), rest...); !bytes.Equal(again, data) {
			t.Fatalf("%x read as %s, written as %x", data, v, again)
		}
	})
}
