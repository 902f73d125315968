package attr_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

type phase string

type score struct {
	Runs    int   `dynamodbav:"runs"`
	Wickets uint8 `dynamodbav:"wickets,omitempty"`
}

type base struct {
	ID   string `dynamodbav:"id"`
	Type string `dynamodbav:"type,omitempty"`
}

type match struct {
	base
	Phase    phase             `dynamodbav:"phase"`
	Start    time.Time         `dynamodbav:"start"`
	End      time.Time         `dynamodbav:"end,omitempty"`
	Live     bool              `dynamodbav:"live,omitempty"`
	Rate     float64           `dynamodbav:"rate,omitempty"`
	Score    score             `dynamodbav:"score,omitempty"`
	Last     *score            `dynamodbav:"last"`
	Best     *score            `dynamodbav:"best,omitempty"`
	Innings  []score           `dynamodbav:"innings"`
	Teams    [2]string         `dynamodbav:"teams"`
	Digest   []byte            `dynamodbav:"digest,omitempty"`
	Cooldown map[phase]int64   `dynamodbav:"cooldown,omitempty"`
	Notes    map[string]string `dynamodbav:"notes"`
	Extra    attr.Value        `dynamodbav:"extra"`
	Plain    int
	Skipped  string `dynamodbav:"-"`
	hidden   string
}

func TestMarshal(t *testing.T) {
	at := time.Date(2026, 2, 14, 19, 30, 0, 123_999_999, time.FixedZone("IST", 19800))
	in := match{
		base: base{ID: "m1"}, Phase: "live", Start: at, Rate: 7.25, Score: score{112, 3}, Best: &score{Runs: 200},
		Innings: []score{{Runs: 1}, {2, 255}}, Teams: [2]string{"AUS", "NZ"}, Digest: []byte{1, 2},
		Cooldown: map[phase]int64{"six": math.MaxInt64}, Extra: attr.Null(), Plain: -1, Skipped: "x", hidden: "x",
	}
	it, err := attr.Marshal(&in)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"M":{"Plain":{"N":"-1"},"best":{"M":{"runs":{"N":"200"}}},"cooldown":{"M":{"six":{"N":"9223372036854775807"}}},` +
		`"digest":{"B":"AQI="},"extra":{"NULL":true},"id":{"S":"m1"},` +
		`"innings":{"L":[{"M":{"runs":{"N":"1"}}},{"M":{"runs":{"N":"2"},"wickets":{"N":"255"}}}]},"last":{"NULL":true},` +
		`"notes":{"M":{}},"phase":{"S":"live"},"rate":{"N":"7.25"},"score":{"M":{"runs":{"N":"112"},"wickets":{"N":"3"}}},` +
		`"start":{"S":"2026-02-14T14:00:00.123Z"},"teams":{"L":[{"S":"AUS"},{"S":"NZ"}]}}}`
	if got := attr.M(it).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var out match
	if err := attr.Unmarshal(it, &out); err != nil {
		t.Fatal(err)
	}
	in.Start, in.Notes = at.UTC().Truncate(time.Millisecond), map[string]string{}
	in.Skipped, in.hidden = "", ""
	if diff := cmp.Diff(in, out, cmp.AllowUnexported(match{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestMarshalOmits(t *testing.T) {
	type fields struct {
		S  string           `dynamodbav:"s,omitempty"`
		I  int              `dynamodbav:"i,omitempty"`
		F  float64          `dynamodbav:"f,omitempty"`
		B  bool             `dynamodbav:"b,omitempty"`
		T  time.Time        `dynamodbav:"t,omitempty"`
		P  *int             `dynamodbav:"p,omitempty"`
		L  []int            `dynamodbav:"l,omitempty"`
		M  map[string]int   `dynamodbav:"m,omitempty"`
		V  attr.Value       `dynamodbav:"v,omitempty"`
		A  attr.Value       `dynamodbav:"a"`
		N  struct{ X *int } `dynamodbav:"n,omitempty"`
		On string           `dynamodbav:",omitempty"`
	}
	zero := 0
	for _, c := range []struct {
		in   fields
		want string
	}{
		{fields{}, `{"M":{"n":{"M":{"X":{"NULL":true}}}}}`},
		{fields{L: []int{}, M: map[string]int{}, P: &zero, On: "x"}, `{"M":{"On":{"S":"x"},"n":{"M":{"X":{"NULL":true}}},"p":{"N":"0"}}}`},
	} {
		it, err := attr.Marshal(c.in)
		if got := attr.M(it).String(); err != nil || got != c.want {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}

func TestMarshalValue(t *testing.T) {
	type named []byte
	deepest := any("x")
	mapped := any("x")
	for range 31 {
		deepest = []any{deepest}
		mapped = map[string]any{"n": mapped}
	}
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, `{"NULL":true}`}, {(*int)(nil), `{"NULL":true}`}, {uint64(math.MaxUint64), `{"N":"18446744073709551615"}`},
		{float32(0.1), `{"N":"0.1"}`}, {1e21, `{"N":"1000000000000000000000"}`}, {named("a"), `{"B":"YQ=="}`},
		{[]any{1, "x", nil, true}, `{"L":[{"N":"1"},{"S":"x"},{"NULL":true},{"BOOL":true}]}`}, {[]int(nil), `{"L":[]}`},
		{[2]byte{1, 2}, `{"L":[{"N":"1"},{"N":"2"}]}`}, {map[string]any{"a": attr.S("x"), "b": attr.Value{}}, `{"M":{"a":{"S":"x"}}}`},
		{attr.Item{"a": attr.S("x")}, `{"M":{"a":{"S":"x"}}}`}, {time.Time{}, `{"S":"0001-01-01T00:00:00.000Z"}`},
		{deepest, strings.Repeat(`{"L":[`, 31) + `{"S":"x"}` + strings.Repeat(`]}`, 31)},
		{mapped, strings.Repeat(`{"M":{"n":`, 31) + `{"S":"x"}` + strings.Repeat(`}}`, 31)},
	} {
		v, err := attr.MarshalValue(c.in)
		if got := v.String(); err != nil || got != c.want {
			t.Errorf("%T: %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

type loop struct {
	Next *loop `dynamodbav:"next"`
}

func TestMarshalRefuses(t *testing.T) {
	round := &loop{}
	round.Next = round
	for want, in := range map[string]any{
		`attr: a.b[1]: there is no value for a chan int`: map[string]any{"a": map[string]any{"b": []any{1, make(chan int)}}},
		`attr: X: there is no value for a func()`:        struct{ X func() }{},
		`the keys of a map[int]string are not strings`:   map[int]string{1: "x"},
		`attr: marshal: a int is not an item`:            1,
		`attr: marshal: a <nil> is not an item`:          nil,
		`unknown option in tag "x,unixtime"`: struct {
			X int `dynamodbav:"x,unixtime"`
		}{},
		`two fields of`: struct {
			X int `dynamodbav:"x"`
			Y int `dynamodbav:"x"`
		}{},
		`embeds a pointer`: struct{ *score }{},
		`attr: X: The parameter cannot be converted to a numeric value`: struct{ X float64 }{math.NaN()},
		`attr: X: Number overflow`:                                      struct{ X float64 }{math.MaxFloat64},
		`attr: X: Number underflow`:                                     struct{ X float64 }{1e-200},
		`attr: X: the year 10000 does not have four digits`:             struct{ X time.Time }{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		`attr: X[0]: an absent value in a list`:                         struct{ X []attr.Value }{make([]attr.Value, 1)},
		`next.next: Nesting Levels have exceeded supported limits`:      round,
	} {
		it, err := attr.Marshal(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %s, %v; want %s", in, attr.M(it), err, want)
		}
	}
}

// A struct's own field hides an embedded one of the same name.
func TestMarshalHides(t *testing.T) {
	type outer struct {
		base
		ID int `dynamodbav:"id"`
	}
	it, err := attr.Marshal(outer{base{"inner", "t"}, 5})
	if got := attr.M(it).String(); err != nil || got != `{"M":{"id":{"N":"5"},"type":{"S":"t"}}}` {
		t.Errorf("%s, %v", got, err)
	}
	var out outer
	if err := attr.Unmarshal(it, &out); err != nil || out.ID != 5 || out.base.ID != "" || out.Type != "t" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	type row struct {
		I8    int8             `dynamodbav:"i8"`
		U     uint             `dynamodbav:"u"`
		F     float32          `dynamodbav:"f"`
		S     string           `dynamodbav:"s"`
		B     bool             `dynamodbav:"b"`
		T     time.Time        `dynamodbav:"t"`
		L     []score          `dynamodbav:"l"`
		M     map[string]score `dynamodbav:"m"`
		A     [2]int           `dynamodbav:"a"`
		Bytes []byte           `dynamodbav:"bytes"`
		Any   any              `dynamodbav:"any"`
		Keys  map[int]int      `dynamodbav:"keys"`
	}
	for text, want := range map[string]string{
		`{"i8":{"N":"128"}}`:  `attr: i8: the number 128 does not fit a int8`,
		`{"i8":{"N":"1.5"}}`:  `attr: i8: the number 1.5 does not fit a int8`,
		`{"i8":{"S":"1"}}`:    `attr: i8: a value of type S does not fit a int8`,
		`{"u":{"N":"-1"}}`:    `attr: u: the number -1 does not fit a uint`,
		`{"f":{"N":"1e100"}}`: `does not fit a float32`,
		`{"s":{"N":"1"}}`:     `attr: s: a value of type N does not fit a string`,
		`{"b":{"S":"true"}}`:  `attr: b: a value of type S does not fit a bool`,
		`{"t":{"S":"today"}}`: `attr: t: "today" is not a time`,
		`{"t":{"N":"1"}}`:     `attr: t: a value of type N does not fit a time.Time`,
		`{"l":{"M":{}}}`:      `attr: l: a value of type M does not fit a []attr_test.score`,
		`{"l":{"L":[{"M":{}},{"M":{"wickets":{"N":"256"}}}]}}`: `attr: l[1].wickets: the number 256 does not fit a uint8`,
		`{"l":{"L":[{"S":"x"}]}}`:                              `attr: l[0]: a value of type S does not fit a attr_test.score`,
		`{"m":{"M":{"x":{"M":{"runs":{"S":""}}}}}}`:            `attr: m.x.runs: a value of type S does not fit a int`,
		`{"m":{"L":[]}}`:                                       `attr: m: a value of type L does not fit a map[string]attr_test.score`,
		`{"a":{"L":[{"N":"1"}]}}`:                              `attr: a: 1 values do not fit a [2]int`,
		`{"bytes":{"S":"x"}}`:                                  `attr: bytes: a value of type S does not fit a []uint8`,
		`{"any":{"S":"x"}}`:                                    `attr: any: a interface {} cannot be set from a value`,
		`{"keys":{"M":{"1":{"N":"1"}}}}`:                       `attr: keys: a value of type M does not fit a map[int]int`,
	} {
		it, err := attr.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = attr.Unmarshal(it, &row{})
		if err == nil || !strings.Contains(err.Error(), want) || fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, target := range []any{nil, row{}, (*row)(nil)} {
		if err := attr.Unmarshal(nil, target); err == nil {
			t.Errorf("unmarshal into %T", target)
		}
	}
}

func TestUnmarshalReads(t *testing.T) {
	type row struct {
		Same    string     `dynamodbav:"same"`
		Null    string     `dynamodbav:"null"`
		NullPtr *int       `dynamodbav:"nullPtr"`
		Ptr     *int       `dynamodbav:"ptr"`
		Texts   []string   `dynamodbav:"texts"`
		Numbers []int      `dynamodbav:"numbers"`
		Datas   [][]byte   `dynamodbav:"datas"`
		Time    time.Time  `dynamodbav:"time"`
		Value   attr.Value `dynamodbav:"value"`
		Item    attr.Item  `dynamodbav:"item"`
	}
	it, err := attr.ParseJSON([]byte(`{"unknown":{"S":"x"},"null":{"NULL":true},"nullPtr":{"NULL":true},"ptr":{"N":"1e1"},
		"texts":{"SS":["b","a"]},"numbers":{"NS":["2","1"]},"datas":{"BS":["AA=="]},"time":{"S":"2026-02-14T19:30:00+05:30"},
		"value":{"L":[]},"item":{"M":{"x":{"S":"y"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	one, ten := 1, 10
	got := row{Same: "kept", Null: "gone", NullPtr: &one}
	if err := attr.Unmarshal(it, &got); err != nil {
		t.Fatal(err)
	}
	want := row{
		Same: "kept", Ptr: &ten, Texts: []string{"a", "b"}, Numbers: []int{1, 2}, Datas: [][]byte{{0}},
		Time: time.Date(2026, 2, 14, 14, 0, 0, 0, time.UTC), Value: attr.L(), Item: attr.Item{"x": attr.S("y")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Everything in a struct is read back, times to the millisecond; their texts sort as they do.
func TestMarshalRoundTrip(t *testing.T) {
	millis := rapid.Map(rapid.Int64Range(-62135596800000, 253402300799999), func(ms int64) time.Time { return time.UnixMilli(ms).UTC() })
	rapid.Check(t, func(t *rapid.T) {
		in := match{
			base: base{genText().Draw(t, "id"), genText().Draw(t, "type")}, Phase: phase(genText().Draw(t, "phase")),
			Start: millis.Draw(t, "start"), End: millis.Draw(t, "end"), Live: rapid.Bool().Draw(t, "live"),
			Rate:    rapid.Float64Range(-1e6, 1e6).Filter(func(f float64) bool { return f == 0 || math.Abs(f) > 1e-100 }).Draw(t, "rate"),
			Innings: rapid.SliceOf(rapid.Map(rapid.Int(), func(n int) score { return score{n, uint8(n)} })).Draw(t, "innings"),
			Notes:   rapid.MapOf(genText(), genText()).Draw(t, "notes"), Extra: genValue(2).Draw(t, "extra"),
		}
		it, err := attr.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out match
		if err := attr.Unmarshal(it, &out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in, out, cmp.AllowUnexported(match{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if text := strings.Compare(it["start"].Str(), it["end"].Str()); text != 0 && text != in.Start.Compare(in.End) && !in.End.IsZero() {
			t.Fatalf("%s and %s order otherwise than their times", it["start"], it["end"])
		}
	})
}
