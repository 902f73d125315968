package attr_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
)

// Data on disk must stay readable: these bytes change only together with the version in front of them.
func TestWireFormat(t *testing.T) {
	it := attr.Item{
		"a": attr.S("x"), "b": num("-1.50"), "c": attr.B([]byte{0xff}), "d": attr.Bool(false), "e": attr.Bool(true),
		"f": attr.Null(), "g": attr.L(attr.S(""), attr.L()), "h": attr.M(attr.Item{"n": attr.Int(0)}),
		"i": must(attr.SS("b", "a")), "j": must(attr.NS("10", "9")), "k": must(attr.BS([]byte{2}, []byte{1})),
	}
	want := strings.Join([]string{
		"01 0b",
		"0161 01 01 78", "0162 02 04 2d312e35", "0163 03 01 ff", "0164 04", "0165 05", "0166 06",
		"0167 07 09000000 02 0100 07 01000000 00",
		"0168 08 06000000 01 016e 02 01 30",
		"0169 09 05000000 02 0161 0162",
		"016a 0a 06000000 02 0139 023130",
		"016b 0b 05000000 02 0101 0102",
	}, "")
	want = strings.ReplaceAll(want, " ", "")
	got := attr.Encode(nil, it)
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
	back, err := attr.Encoded(got).Decode()
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, back, it)
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := genItem(4).Draw(t, "item")
		enc := attr.Encode([]byte("before"), it)
		enc, ok := bytes.CutPrefix(enc, []byte("before"))
		if !ok {
			t.Fatalf("dst is gone: %x", enc)
		}
		back, err := attr.Encoded(enc).Decode()
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, back, it)
		if again := attr.Encode(nil, back); !bytes.Equal(again, enc) {
			t.Fatalf("encoded again: %x, was %x", again, enc)
		}
	})
}

// Lengths and counts take one, two or three bytes.
func TestEncodeLong(t *testing.T) {
	for _, n := range []int{126, 127, 128, 129, 255, 256, 16383, 16384, 50000} {
		text := strings.Repeat("x", n)
		members := make([]string, n)
		list := make([]attr.Value, n)
		wide := attr.Item{}
		for i := range n {
			list[i] = attr.Int(int64(i))
			members[i] = list[i].Str()
			wide[members[i]] = attr.Null()
		}
		it := attr.Item{
			"a": attr.S(text), "b": attr.L(list...), "c": must(attr.NS(members...)), "d": attr.M(wide),
			"y" + text: attr.B([]byte(text)), "z": attr.S("last"),
		}
		enc := attr.Encoded(attr.Encode(nil, it))
		back, err := enc.Decode()
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, back, it)
		if v, ok, err := enc.Get("z"); !ok || err != nil || v.Str() != "last" {
			t.Errorf("%d: Get behind it: %s, %v, %v", n, v, ok, err)
		}
		out, err := enc.AppendJSON(nil)
		if err != nil || !bytes.Equal(out, attr.AppendJSON(nil, it)) {
			t.Errorf("%d: JSON of the encoding differs, %v", n, err)
		}
	}
}

func TestGet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := genItem(3).Draw(t, "item")
		enc := attr.Encoded(attr.Encode(nil, it))
		names := append([]string{"", "a", "zzz", genText().Draw(t, "name")}, keys(it)...)
		for _, name := range names {
			got, ok, err := enc.Get(name)
			want, wantOK := it[name]
			if err != nil || ok != wantOK || !attr.Equal(got, want) {
				t.Fatalf("Get(%q) = %s, %v, %v; want %s, %v", name, got, ok, err, want, wantOK)
			}
			if has, err := enc.Has(name); err != nil || has != wantOK {
				t.Fatalf("Has(%q) = %v, %v; want %v", name, has, err, wantOK)
			}
		}
	})
}

func keys(it attr.Item) []string {
	var names []string
	for name := range it {
		names = append(names, name)
	}
	return names
}

// A page of the store is gone when its transaction ends: nothing decoded may still refer to it.
func TestNothingRefersToTheEncoding(t *testing.T) {
	it := matchItem(t)
	enc := attr.Encoded(attr.Encode(nil, it))
	whole, err := enc.Decode()
	if err != nil {
		t.Fatal(err)
	}
	single := attr.Item{}
	for name := range it {
		if single[name], _, err = enc.Get(name); err != nil {
			t.Fatal(err)
		}
	}
	clear(enc)
	wantSame(t, whole, it)
	wantSame(t, single, it)
}

func TestDepthOfEncoding(t *testing.T) {
	for _, c := range []struct{ at32, at33 attr.Value }{
		{deep(31), deep(32)}, {deepList(31), deepList(32)}, {attr.L(attr.Null(), deep(30)), attr.L(attr.Null(), deep(31))},
	} {
		enc := attr.Encoded(attr.Encode(nil, attr.Item{"a": c.at32}))
		if _, err := enc.Decode(); err != nil {
			t.Errorf("level 32: %v", err)
		}
		if _, err := enc.AppendJSON(nil); err != nil {
			t.Errorf("level 32: %v", err)
		}
		enc = attr.Encode(nil, attr.Item{"a": c.at33})
		_, err := enc.Decode()
		_, _, getErr := enc.Get("a")
		_, jsonErr := enc.AppendJSON(nil)
		for _, err := range []error{err, getErr, jsonErr} {
			if !fault.Is(err, fault.Damaged) {
				t.Errorf("level 33: %v", err)
			}
		}
	}
}

// Decode refuses bytes that no item encodes to, even if only slightly wrong.
func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                     "",
		"version alone":               "01",
		"another version":             "02 00",
		"something behind":            "01 00 00",
		"fewer attributes than said":  "01 02 0161 06",
		"more attributes than fit":    "01 ffffffff07",
		"names descending":            "01 02 0162 06 0161 06",
		"a name twice":                "01 02 0161 06 0161 06",
		"a count in a longer form":    "01 8100 0161 06",
		"a zero in a longer form":     "01 8000",
		"a name behind the end":       "01 01 7f61 06",
		"an unknown tag":              "01 01 0161 0c",
		"the absent tag":              "01 01 0161 00",
		"an unknown tag with a size":  "01 01 0161 0c 00000000",
		"a member behind the end":     "01 01 0161 09 02000000 01 05",
		"a string behind the end":     "01 01 0161 01 05 78",
		"a long string behind it":     "01 01 0161 01 ffff03 78",
		"a number without text":       "01 01 0161 02 00",
		"a number not canonical":      "01 01 0161 02 03 312e30",
		"a negative zero":             "01 01 0161 02 02 2d30",
		"a number with a plus":        "01 01 0161 02 02 2b31",
		"a list without size":         "01 01 0161 07 0100",
		"a list larger than the rest": "01 01 0161 07 02000000 00",
		"a list smaller than said":    "01 01 0161 07 02000000 00 06",
		"a list of too many":          "01 01 0161 07 05000000 ffffffff07",
		"a list that runs over":       "01 01 0161 07 01000000 01 06",
		"a map that runs over":        "01 01 0161 08 01000000 01 0162 06",
		"an empty set":                "01 01 0161 09 01000000 00",
		"a set descending":            "01 01 0161 09 05000000 02 0162 0161",
		"a member twice":              "01 01 0161 0b 05000000 02 0161 0161",
		"a number set by text":        "01 01 0161 0a 06000000 02 023130 0139",
		"a number set of letters":     "01 01 0161 0a 03000000 01 0161",
	} {
		enc, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if it, err := attr.Encoded(enc).Decode(); !fault.Is(err, fault.Damaged) {
			t.Errorf("%s: %v, %v", name, attr.M(it), err)
		}
	}
}

// Reading a part of an encoding detects damage up to that part.
func TestDamagedParts(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                   "",
		"another version":           "02 01 0161 06",
		"more attributes than fit":  "01 09 0161 06",
		"a name behind the end":     "01 01 7f61 06",
		"no value":                  "01 02 0161 06 0162",
		"an unknown tag":            "01 01 0161 0c",
		"a string behind the end":   "01 01 0161 01 05 78",
		"a list without size":       "01 01 0161 07 0100",
		"a list larger than it all": "01 01 0161 07 02000000 00",
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		enc := attr.Encoded(data)
		_, _, getErr := enc.Get("b")
		_, hasErr := enc.Has("b")
		out, jsonErr := enc.AppendJSON([]byte("x"))
		if !fault.Is(getErr, fault.Damaged) || !fault.Is(hasErr, fault.Damaged) || !fault.Is(jsonErr, fault.Damaged) || string(out) != "x" {
			t.Errorf("%s: Get %v, Has %v, JSON %v %s", name, getErr, hasErr, jsonErr, out)
		}
	}
	number := attr.Encoded("\x01\x01\x01a\x02\x03\"1\"")
	if out, err := number.AppendJSON(nil); !fault.Is(err, fault.Damaged) {
		t.Errorf("a number with quotes is written as %s", out)
	}
}

// A damaged encoding is an error or a wrong item, never a panic, and never invalid JSON.
func FuzzDecode(f *testing.F) {
	f.Add(attr.Encode(nil, matchItem(f)))
	f.Add(attr.Encode(nil, attr.Item{"s": must(attr.SS("a", "b")), "n": must(attr.NS("1", "2.5")), "b": must(attr.BS([]byte("x")))}))
	f.Add(attr.Encode(nil, attr.Item{"": attr.Null(), "deep": deep(31), "t": attr.Bool(true), "b": attr.B([]byte{0, 1})}))
	f.Add([]byte{1, 0})
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		enc := attr.Encoded(data)
		it, err := enc.Decode()
		_, _, _ = enc.Get("deep")
		text, jsonErr := enc.AppendJSON([]byte("["))
		if err != nil {
			if jsonErr != nil && string(text) != "[" {
				t.Fatalf("dst after an error: %q", text)
			}
			return
		}
		if again := attr.Encode(nil, it); !bytes.Equal(again, data) {
			t.Fatalf("%x is encoded as %x", data, again)
		}
		if jsonErr != nil || string(text) != string(attr.AppendJSON([]byte("["), it)) {
			t.Fatalf("JSON of the encoding: %s, %v", text, jsonErr)
		}
		for name, want := range it {
			if got, ok, err := enc.Get(name); !ok || err != nil || !attr.Equal(got, want) {
				t.Fatalf("Get(%q) = %s, %v, %v", name, got, ok, err)
			}
		}
	})
}
