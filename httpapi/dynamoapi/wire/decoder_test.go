package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
)

// members has one member of each kind.
type members struct {
	Text    wire.Opt[string]
	Bool    wire.Opt[bool]
	Int     wire.Opt[int64]
	Float   wire.Opt[float64]
	Texts   wire.Opt[[]string]
	TextMap wire.Opt[map[string]string]
	Item    wire.Item
	Value   wire.Value
	Below   *members
	List    []members
}

func (m *members) read(at *wire.Member) {
	at.Text("Text", &m.Text)
	at.Bool("Bool", &m.Bool)
	at.Int("Int", &m.Int)
	at.Float("Float", &m.Float)
	at.Texts("Texts", &m.Texts)
	at.TextMap("TextMap", &m.TextMap)
	at.Item("Item", &m.Item)
	at.Read("Value", func(d *wire.Decoder) { d.Value(&m.Value) })
	at.Read("Below", func(d *wire.Decoder) {
		m.Below = new(members)
		d.Object("Below", m.Below.read)
	})
	at.Read("List", func(d *wire.Decoder) {
		d.Array(func(int) {
			var one members
			d.Object("Elem", one.read)
			m.List = append(m.List, one)
		})
	})
}

func decode(text string) (m members, err error) {
	return m, wire.NewDecoder(text).Root(m.read)
}

func TestDecode(t *testing.T) {
	m, err := decode(` {"Text":"a\u00e9", "Bool" : true,"Int":-7,"Float":1.5e1,"Texts":["x",""],"TextMap":{"k":"v"},
		"Item":{"pk":{"S":"p"}},"Value":{"N":"1.0"},"Below":{"Int":2.9,"Text":null},"List":[{"Int":1},{}],
		"Unknown":[{"a":[1,{"b":null}]},"x",true,-0.5e-3,{}],"Nobody":null}`)
	if err != nil {
		t.Fatal(err)
	}
	if m.Text.V != "aé" || !m.Bool.V || m.Int.V != -7 || m.Float.V != 15 || len(m.Texts.V) != 2 || m.TextMap.V["k"] != "v" {
		t.Errorf("%+v", m)
	}
	if m.Item.V["pk"].Str() != "p" || m.Value.V.Str() != "1" || len(m.List) != 2 || m.List[0].Int.V != 1 {
		t.Errorf("%+v", m)
	}
	if m.Below.Int.V != 2 || m.Below.Text.Set || m.List[1].Int.Set {
		t.Errorf("below: %+v", m.Below)
	}
}

// Errors of values inside an item are kept for later; errors of the JSON around it are not.
func TestDecodeLater(t *testing.T) {
	m, err := decode(`{"Item":{"a":{"N":"x"},"b":{"L":[{"S":"]"}]}},"Value":{},"Text":"behind"}`)
	if err != nil || m.Text.V != "behind" {
		t.Fatalf("%v, %+v", err, m)
	}
	for _, late := range []error{m.Item.Err, m.Value.Err} {
		if f, ok := errors.AsType[*fault.Error](late); !ok || f.Code != "validation" {
			t.Errorf("%v", late)
		}
	}
	if _, err := decode(`{"Item":{"a":{"N":"x"}},"Text":5}`); err == nil || err.Error() != "NUMBER_VALUE cannot be converted to String" {
		t.Errorf("%v", err)
	}
}

func TestDecodeRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "Unexpected end of JSON: '{' expected",
		`null`:                        "Unexpected character at byte 0 of the JSON: '{' expected",
		`[]`:                          "Unexpected value type in payload",
		`5`:                           "Unexpected value type in payload",
		`{} x`:                        "Unexpected character at byte 3 of the JSON: the end expected",
		`{"Text":true}`:               "TRUE_VALUE cannot be converted to String",
		`{"Text":1.5}`:                "DECIMAL_VALUE cannot be converted to String",
		`{"Text":[]}`:                 "Unrecognized collection type class java.lang.String",
		`{"Text":{}}`:                 "Start of structure or map found where not expected",
		`{"Text":nul}`:                "Unexpected character at byte 8 of the JSON: a value of type String expected",
		`{"Bool":1}`:                  "NUMBER_VALUE cannot be converted to Boolean",
		`{"Bool":"a"}`:                "Unexpected token received from parser",
		`{"Int":"1"}`:                 "STRING_VALUE cannot be converted to Integer",
		`{"Int":01}`:                  "NUMBER_VALUE cannot be converted to Integer",
		`{"Float":false}`:             "FALSE_VALUE cannot be converted to Double",
		`{"Texts":"x"}`:               "Unexpected field type",
		`{"Texts":{}}`:                "Start of structure or map found where not expected",
		`{"Texts":[1]}`:               "NUMBER_VALUE cannot be converted to String",
		`{"Item":[]}`:                 "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>",
		`{"Item":"x"}`:                "Unexpected field type",
		`{"Value":[]}`:                "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
		`{"Below":[]}`:                "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Below",
		`{"Below":1}`:                 "Unexpected value type in payload",
		`{"TextMap":{"a":"","a":""}}`: `The JSON has the name "a" twice`,
		`{"X":[}`:                     "Unexpected character at byte 6 of the JSON: a value expected",
		`{"X":{"a" 1}}`:               "Unexpected character at byte 10 of the JSON: ':' expected",
	} {
		_, err := decode(text)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != "serialization" || f.Message != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// No depth of nesting takes more memory than the text itself.
func TestDecodeDeep(t *testing.T) {
	for _, text := range []string{
		`{"X":` + strings.Repeat(`[`, 8<<20), `{"X":` + strings.Repeat(`{"a":`, 2<<20), `{"X":` + strings.Repeat(`[`, 1<<20) + strings.Repeat(`]`, 1<<20) + `}`,
		strings.Repeat(`{"Below":`, 1<<20), strings.Repeat(`{"List":[`, 1<<20), `{"Item":{"a":` + strings.Repeat(`{"L":[`, 2<<20),
	} {
		if _, err := decode(text); err == nil && strings.Count(text, "[") != strings.Count(text, "]") {
			t.Errorf("%.20s is accepted", text)
		}
	}
}

func TestEncode(t *testing.T) {
	e := wire.NewEncoder([]byte("x"))
	e.Begin()
	e.NamedInt("gone", 1)
	e.Reset()
	e.Begin()
	e.NamedText("a\"", "b\n")
	e.NamedInt("one", 1)
	e.NamedBool("true", true)
	e.NamedArray("list")
	for _, f := range []float64{0, 1, 0.5, 1e-9, 1e20, 1732000000.125} {
		e.Float(f)
	}
	e.Begin()
	e.End()
	e.EndArray()
	e.Name("item")
	e.Item(attr.Item{"n": attr.Int(1)})
	e.Name("encoded")
	if err := e.WriteEncoded(attr.Encode(nil, attr.Item{"n": attr.Int(1)})); err != nil {
		t.Error(err)
	}
	e.End()
	want := `{"a\"":"b\n","one":1,"true":true,"list":[0.0,1.0,0.5,1e-09,1e+20,1.732000000125e+09,{}],"item":{"n":{"N":"1"}},"encoded":{"n":{"N":"1"}}}`
	if got := string(e.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzDecode: an accepted request is JSON, and JSON with only unknown members is accepted.
func FuzzDecode(f *testing.F) {
	corpus.Add(f)
	f.Add(`{"Text":"a","List":[{"Item":{"a":{"M":{"b":{"SS":["x"]}}}}}],"X":[1.5e3,{"y":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := decode(text)
		if err == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q is no JSON", text)
		}
		err = wire.NewDecoder(text).Root(func(*wire.Member) {})
		if valid := json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{"); err != nil && valid && strictText(text) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// strictText reports whether a JSON text contains nothing that only encoding/json accepts: invalid UTF-8 and unpaired surrogates.
func strictText(text string) bool {
	return strings.ToValidUTF8(text, "") == text && !strings.Contains(strings.ToLower(text), `\ud`)
}
