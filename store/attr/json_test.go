package attr_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
)

func TestJSONText(t *testing.T) {
	it := attr.Item{
		"s": attr.S("a\"b\\c\n\t\r\x01é日😀<&>"), "n": num("-1.50"), "b": attr.B([]byte{0xff, 0}), "t": attr.Bool(true), "f": attr.Bool(false),
		"z": attr.Null(), "l": attr.L(attr.S(""), attr.Int(1), attr.L()), "m": attr.M(attr.Item{"x": attr.S("y"), "k\"": attr.M(nil)}),
		"ss": must(attr.SS("b", "a")), "ns": must(attr.NS("10", "9")), "bs": must(attr.BS([]byte{2}, []byte{1})),
	}
	want := `{"b":{"B":"/wA="},"bs":{"BS":["AQ==","Ag=="]},"f":{"BOOL":false},"l":{"L":[{"S":""},{"N":"1"},{"L":[]}]},` +
		`"m":{"M":{"k\"":{"M":{}},"x":{"S":"y"}}},"n":{"N":"-1.5"},"ns":{"NS":["9","10"]},` +
		`"s":{"S":"a\"b\\c\n\t\r\u0001é日😀<&>"},"ss":{"SS":["a","b"]},"t":{"BOOL":true},"z":{"NULL":true}}`
	if got := string(attr.AppendJSON([]byte("x"), it)); got != "x"+want {
		t.Errorf("got  %s\nwant x%s", got, want)
	}
	enc := attr.Encoded(attr.Encode(nil, it))
	if got, err := enc.AppendJSON([]byte("x")); err != nil || string(got) != "x"+want {
		t.Errorf("got  %s, %v\nwant x%s", got, err, want)
	}
	back, err := attr.ParseJSON([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, back, it)
}

// Our JSON is valid JSON with the same meaning for others, and is read back unchanged; the encoded item yields the same.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := genItem(4).Draw(t, "item")
		text := attr.AppendJSON(nil, it)
		back, err := attr.ParseJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		wantSame(t, back, it)
		direct, err := attr.Encoded(attr.Encode(nil, it)).AppendJSON(nil)
		if err != nil || string(direct) != string(text) {
			t.Fatalf("of the encoding %s, %v\nof the item %s", direct, err, text)
		}
		var others map[string]attr.Value
		if err := json.Unmarshal(text, &others); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := json.MarshalIndent(others, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if back, err = attr.ParseJSON(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		wantSame(t, back, it)
	})
}

// encoding/json and our code convert strings to the same text, valid UTF-8 or not, at every length.
func TestJSONStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("aaaa\"\\\x00\x1f é\x7f"))), 0, 40).Draw(t, "raw"))
		text := attr.AppendValueJSON(nil, attr.S(raw))
		var got struct{ S string }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q: %s: %v", raw, text, err)
		}
		if want := string([]rune(raw)); got.S != want {
			t.Fatalf("%q is %s, read as %q, want %q", raw, text, got.S, want)
		}
		quoted, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		v, err := attr.ParseValueJSON([]byte(`{"S":` + string(quoted) + `}`))
		if err != nil || v.Str() != got.S {
			t.Fatalf("%s is read as %q, %v; want %q", quoted, v.Str(), err, got.S)
		}
	})
}

func TestJSONSpellings(t *testing.T) {
	for text, want := range map[string]string{
		" { } ": `{}`,
		"{\n\t\"a\" : { \"L\" : [ { \"N\" : \"1.0\" } , { \"BOOL\" : true } ] } ,\r\n \"b\":{\"NULL\" : true}}\n": `{"a":{"L":[{"N":"1"},{"BOOL":true}]},"b":{"NULL":true}}`,
		`{"\u0061\/\"\\":{"S":"\b\f\n\r\t\u00e9\ud83d\ude00\uD83D\uDE00"}}`:                                       `{"a/\"\\":{"S":"\u0008\u000c\n\r\té😀😀"}}`,
		`{"a":{"\u0053":"x"}}`:              `{"a":{"S":"x"}}`,
		`{"a":{"NS":["2","1e0"]}}`:          `{"a":{"NS":["1","2"]}}`,
		`{"a":{"B":""},"b":{"B":"AAAA"}}`:   `{"a":{"B":""},"b":{"B":"AAAA"}}`,
		`{"b":{"S":"1"},"a":{"S":"2"}}`:     `{"a":{"S":"2"},"b":{"S":"1"}}`,
		`{"":{"S":""}}`:                     `{"":{"S":""}}`,
		`{"a":{"M":{"a":{"M":{}}}}}`:        `{"a":{"M":{"a":{"M":{}}}}}`,
		`{"a":{"SS":["` + "\u007f" + `"]}}`: `{"a":{"SS":["` + "\u007f" + `"]}}`,
	} {
		it, err := attr.ParseJSON([]byte(text))
		if got := string(attr.AppendJSON(nil, it)); err != nil || got != want {
			t.Errorf("%s is read as %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestJSONRefused(t *testing.T) {
	for code, texts := range map[string][]string{
		"serialization": {
			``, ` `, `{`, `}`, `null`, `[]`, `"a"`, `{"a"}`, `{"a":}`, `{"a":1}`, `{"a":null}`, `{"a":"x"}`, `{"a":[]}`, `{a:{"S":"x"}}`,
			`{"a":{"S":"x"}`, `{"a":{"S":"x"}}}`, `{"a":{"S":"x"}} x`, `{"a":{"S":"x"}}{}`, `{"a":{"S":"x"},}`, `{,"a":{"S":"x"}}`,
			`{"a":{"S":"x"} "b":{"S":"x"}}`, `{"a":{"S":"x"},"a":{"S":"x"}}`, `{"a":{"M":{"b":{"S":"x"},"b":{"S":"y"}}}}`,
			`{"a":{"S":"x"},"\u0061":{"S":"x"}}`, `{"a" {"S":"x"}}`, `{"a":{"S" "x"}}`, `{"a":{S:"x"}}`, `{'a':{"S":"x"}}`,
			`{"a":{"S":1}}`, `{"a":{"S":null}}`, `{"a":{"S":x}}`, `{"a":{"S":"x}}`, `{"a":{"S":"x"`, `{"a":{"S":"` + "\x01" + `"}}`, `{"a":{"S":"\n` + "\n" + `"}}`,
			`{"a":{"S":"\x"}}`, `{"a":{"S":"\`, `{"a":{"S":"\u12"}}`, `{"a":{"S":"\u12g4"}}`, `{"a":{"S":"\ud83d"}}`, `{"a":{"S":"\ud83dx"}}`,
			`{"a":{"S":"\ude00\ud83d"}}`, `{"a":{"S":"\ud83d\u0041"}}`, `{"a":{"S":"` + "\xff" + `"}}`, `{"a":{"S":"\n` + "\xc3" + `"}}`,
			`{"` + "\xff" + `":{"S":"x"}}`, `{"a":{"N":1}}`, `{"a":{"BOOL":"true"}}`, `{"a":{"BOOL":1}}`, `{"a":{"BOOL":tru}}`, `{"a":{"NULL":null}}`,
			`{"a":{"B":"A"}}`, `{"a":{"B":"AAA"}}`, `{"a":{"B":"AB=="}}`, `{"a":{"B":"AA\n=="}}`,
			`{"a":{"B":"AA==AA=="}}`, `{"a":{"B":"_w=="}}`, `{"a":{"B":1}}`, `{"a":{"L":{}}}`, `{"a":{"L":[1]}}`, `{"a":{"L":[{"S":"x"},]}}`, `{"a":{"L":[{"S":"x"}`,
			`{"a":{"L":[{"S":"x"} {"S":"x"}]}}`, `{"a":{"L":[{"S":"x"}}}`, `{"a":{"M":[]}}`, `{"a":{"M":{"b":1}}}`, `{"a":{"SS":"x"}}`, `{"a":{"SS":[1]}}`,
			`{"a":{"SS":["a" "b"]}}`, `{"a":{"SS":["a"}}`, `{"a":{"BS":["A"]}}`, `{"a":{"NS":[1]}}`,
		},
		"validation": {
			`{"a":{}}`, `{"a":{"X":"x"}}`, `{"a":{"s":"x"}}`, `{"a":{"":"x"}}`, `{"a":{"S":"x","N":"1"}}`, `{"a":{"S":"x","S":"x"}}`, `{"a":{"N":""}}`, `{"a":{"N":"x"}}`, `{"a":{"N":"1e126"}}`,
			`{"a":{"NULL":false}}`, `{"a":{"SS":[]}}`, `{"a":{"NS":[]}}`, `{"a":{"BS":[]}}`, `{"a":{"SS":["a","a"]}}`, `{"a":{"NS":["1","1.0"]}}`,
			`{"a":{"BS":["AA==","AA=="]}}`, `{"a":{"NS":["x"]}}`, `{"a":{"L":[{}]}}`,
			string(attr.AppendJSON(nil, attr.Item{"a": deep(32)})), string(attr.AppendJSON(nil, attr.Item{"a": deepList(32)})), `{"a":` + strings.Repeat(`{"L":[`, 1e6),
		},
	} {
		for _, text := range texts {
			it, err := attr.ParseJSON([]byte(text))
			if !fault.Is(err, fault.Invalid) || codeOf(err) != code || it != nil {
				t.Errorf("%.200q: %s, code %q, %v; want %s", text, attr.M(it), codeOf(err), err, code)
			}
		}
	}
	if _, err := attr.ParseJSON(attr.AppendJSON(nil, attr.Item{"a": deep(31), "b": deepList(31)})); err != nil {
		t.Errorf("level 32: %v", err)
	}
}

func TestValueJSON(t *testing.T) {
	got := struct{ V attr.Value }{attr.S("before")}
	if err := json.Unmarshal([]byte(`{"V":{"N":"1.0"}}`), &got); err != nil || !attr.Equal(got.V, attr.Int(1)) {
		t.Errorf("read %s, %v", got.V, err)
	}
	for _, text := range []string{`{"S":"x"}}`, `{"S":"x"} 1`, ``, `{}`, `null`} {
		if v, err := attr.ParseValueJSON([]byte(text)); !fault.Is(err, fault.Invalid) || !v.IsZero() {
			t.Errorf("%s is read as %s, %v", text, v, err)
		}
	}
}

// JSON is written for every read request, so it must not allocate.
func TestJSONTakesNoMemory(t *testing.T) {
	it := matchItem(t)
	it["binary"] = attr.B([]byte(strings.Repeat("x", 1000)))
	it["set"] = must(attr.SS("a", "b"))
	enc := attr.Encoded(attr.Encode(nil, it))
	dst := make([]byte, 0, 8192)
	for name, do := range map[string]func(){
		"item":    func() { attr.AppendJSON(dst, it) },
		"encoded": func() { _, _ = enc.AppendJSON(dst) },
		"encode":  func() { attr.Encode(dst, it) },
		"get":     func() { _, _, _ = enc.Get("active") },
		"has":     func() { _, _ = enc.Has("wickets") },
	} {
		if n := testing.AllocsPerRun(50, do); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if n := testing.AllocsPerRun(50, func() { _, _, _ = enc.Get("startTime") }); n > 1 {
		t.Errorf("get of a string: %v allocations", n)
	}
}

// The parser reads input from the network: everything it accepts is written and read back as the same item.
func FuzzParseJSON(f *testing.F) {
	f.Add(attr.AppendJSON(nil, matchItem(f)))
	f.Add([]byte(`{"a":{"L":[{"SS":["x","y"]},{"NS":["1e2"]},{"BS":["AA=="]}]},"b":{"M":{"\ud83d\ude00":{"NULL":true}}},"c":{"BOOL":false}}`))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		it, err := attr.ParseJSON(data)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%v is not of kind Invalid", err)
			}
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		text := attr.AppendJSON(nil, it)
		back, err := attr.ParseJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		wantSame(t, back, it)
		encoded, err := attr.EncodeJSON(nil, data)
		if want := attr.Encode(nil, it); err != nil || !bytes.Equal(encoded, want) {
			t.Fatalf("%s is encoded as %x, %v, want %x", data, encoded, err, want)
		}
	})
}

func TestBase64Pieces(t *testing.T) {
	for n := range 300 {
		data := []byte(strings.Repeat("xyz\x00\xff", 60)[:n])
		want := `{"B":"` + base64.StdEncoding.EncodeToString(data) + `"}`
		if got := attr.B(data).String(); got != want {
			t.Fatalf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

// shuffledJSON writes an item with the names of every object in random order.
func shuffledJSON(t *rapid.T, it attr.Item) string {
	names := rapid.Permutation(slices.Sorted(maps.Keys(it))).Draw(t, "order")
	var b strings.Builder
	for i, name := range names {
		text := string(attr.AppendValueJSON(nil, it[name]))
		if v := it[name]; v.Kind() == attr.KindM {
			text = `{"M":` + shuffledJSON(t, v.Map()) + "}"
		}
		quoted, _ := json.Marshal(name)
		b.WriteString([]string{"{", ","}[min(i, 1)] + string(quoted) + ":" + text)
	}
	if len(names) == 0 {
		return "{}"
	}
	return b.String() + "}"
}

// EncodeJSON returns the encoding of the item, whatever the order and number of names.
func TestEncodeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := genItem(4).Draw(t, "item")
		for n := range rapid.SampledFrom([]int{0, 0, 0, 0, 0, 126, 127, 300}).Draw(t, "more") {
			it[strconv.Itoa(n)] = attr.Bool(n%2 == 0)
		}
		it["inner"] = attr.M(attr.Item{"m": attr.M(maps.Clone(it)), "l": attr.L(slices.Collect(maps.Values(it))...)})
		got, err := attr.EncodeJSON([]byte("x"), []byte(shuffledJSON(t, it)))
		if want := attr.Encode([]byte("x"), it); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got  %x, %v\nwant %x", got, err, want)
		}
	})
}

// A count that needs three bytes makes room for itself.
func TestEncodeJSONOfMany(t *testing.T) {
	it := attr.Item{}
	for n := range 1<<14 + 1 {
		it[strconv.Itoa(n)] = attr.Null()
	}
	got, err := attr.EncodeJSON(nil, attr.AppendJSON(nil, it))
	if want := attr.Encode(nil, it); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
	}
}

func TestEncodeJSONRefuses(t *testing.T) {
	for _, text := range []string{
		`{"b":{"NULL":true},"a":{"M":{"y":{"S":""},"x":{"S":""},"y":{"S":""}}}}`, `{"a":{"S":"x"},"a":{"S":"x"}}`, `{"a":{"S":"x"}} 1`, ``,
	} {
		dst := []byte("kept")
		out, err := attr.EncodeJSON(dst, []byte(text))
		if !fault.Is(err, fault.Invalid) || string(out) != "kept" {
			t.Errorf("%s: got %q, %v", text, out, err)
		}
	}
}
