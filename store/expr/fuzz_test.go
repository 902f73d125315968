package expr

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
)

// The fuzz targets take a text, the parameters as DynamoDB JSON, and an item. Whatever these are, nothing panics, errors are refusals
// with a code, a second parse gives the same result, and the item is not changed.

// fuzzNames has the values of "#a" to "#d".
var fuzzNames = map[string]string{"#a": "a", "#b": "status", "#c": "m", "#d": "x"}

func seed(f *testing.F, file string) {
	t := &testing.T{}
	for _, c := range readRecorded(t, filepath.Join("testdata", file+".txt")) {
		f.Add(c.text, attr.AppendJSON(nil, c.params.Values), attr.AppendJSON(nil, c.item))
	}
}

// fuzzParams keeps only the parameters that the text uses, so that a request is not refused for the others.
func fuzzParams(g grammar, text string, values []byte) (Params, bool) {
	p, err := parse(g, text, false)
	all, err2 := attr.ParseJSON(values)
	if err != nil || err2 != nil {
		return Params{}, false
	}
	params := Params{Names: map[string]string{}, Values: attr.Item{}}
	for placeholder := range p.number {
		if name, ok := fuzzNames[placeholder]; ok {
			params.Names[placeholder] = name
		}
		if v, ok := all[placeholder]; ok {
			params.Values[placeholder] = v
		}
	}
	return params, true
}

// bindTwice binds a request twice with a cache and once without; all three must be the same.
func bindTwice(t *testing.T, r Request) (Bound, bool) {
	c := NewCache(2)
	first, err := c.Bind(r)
	second, err2 := c.Bind(r)
	plain, err3 := Bind(r)
	if err != nil {
		checkRefusal(t, err)
		if err2 == nil || err3 == nil || err.Error() != err2.Error() || err.Error() != err3.Error() {
			t.Fatalf("refused with %v, then %v and %v", err, err2, err3)
		}
		return Bound{}, false
	}
	if err2 != nil || err3 != nil || !reflect.DeepEqual(first, second) || !reflect.DeepEqual(first, plain) {
		t.Fatalf("read in two ways: %v, %v", err2, err3)
	}
	return first, true
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code != "validation" && f.Code != CodeOperand || f.Message == "" {
		t.Fatalf("%#v", err)
	}
}

func FuzzCondition(f *testing.F) {
	seed(f, "condition")
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, text string, values, item []byte) {
		params, ok := fuzzParams(grammarCondition, text, values)
		it, err := attr.ParseJSON(item)
		if !ok || err != nil {
			_, err := ParseFilter(text, Params{Names: fuzzNames})
			if err != nil {
				checkRefusal(t, err)
			}
			return
		}
		b, ok := bindTwice(t, Request{Condition: text, Params: params})
		if !ok {
			return
		}
		inMemory, err := b.Condition.Match(Item(it))
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := b.Condition.Match(attr.Encoded(attr.Encode(nil, it)))
		if err != nil || encoded != inMemory {
			t.Fatalf("%v in memory, %v (%v) encoded", inMemory, encoded, err)
		}
		opposite, err := parseCondition(formCondition, "NOT ("+text+")", params)
		if err != nil { // too long, too many operators, or now redundant parentheses
			checkRefusal(t, err)
			return
		}
		if truth, _ := opposite.Match(Item(it)); truth == inMemory {
			t.Fatalf("%q and its opposite are both %v", text, truth)
		}
	})
}

func FuzzUpdate(f *testing.F) {
	seed(f, "update")
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, text string, values, item []byte) {
		params, ok := fuzzParams(grammarUpdate, text, values)
		it, err := attr.ParseJSON(item)
		if !ok || err != nil {
			return
		}
		b, ok := bindTwice(t, Request{Update: text, Params: params})
		if !ok {
			return
		}
		before := attr.Encode(nil, it)
		after, err := b.Update.Apply(it)
		if string(attr.Encode(nil, it)) != string(before) {
			t.Fatal("the item was changed")
		}
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkWhole(t, attr.M(after))
		touched := make(map[string]bool)
		for _, name := range b.Update.Attributes() {
			touched[name] = true
		}
		for name, v := range after {
			if !touched[name] && !attr.Equal(v, it[name]) {
				t.Fatalf("%s has changed, which the update does not name", name)
			}
		}
	})
}

// checkWhole finds absent values in a value, which nothing may leave behind.
func checkWhole(t *testing.T, v attr.Value) {
	if v.IsZero() {
		t.Fatal("an absent value in the item")
	}
	for _, e := range v.List() {
		checkWhole(t, e)
	}
	for _, e := range v.Map() {
		checkWhole(t, e)
	}
}

func FuzzProjection(f *testing.F) {
	seed(f, "projection")
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, text string, _, item []byte) {
		params, ok := fuzzParams(grammarProjection, text, []byte("{}"))
		it, err := attr.ParseJSON(item)
		if !ok || err != nil {
			return
		}
		b, ok := bindTwice(t, Request{Projection: text, Params: params})
		if !ok {
			return
		}
		part := b.Projection.Project(it)
		checkWhole(t, attr.M(part))
		if !utf8.ValidString(text) {
			t.Fatal("accepted what is not UTF-8")
		}
	})
}

func FuzzKeyCondition(f *testing.F) {
	seed(f, "key")
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, text string, values, _ []byte) {
		params, ok := fuzzParams(grammarCondition, text, values)
		if !ok {
			return
		}
		r := Request{KeyCondition: text, Params: params, Key: testKey("pk", "sk")}
		b, ok := bindTwice(t, r)
		if !ok {
			return
		}
		// A range is equivalent to the condition it was made from.
		cond, err := parseCondition(formCondition, text, params)
		if err != nil {
			t.Fatal(err)
		}
		for _, sort := range []attr.Value{b.Key.Low, b.Key.High, attr.S("a"), attr.Int(1), attr.B([]byte("a"))} {
			it := attr.Item{"pk": b.Key.Partition[0], "sk": sort}
			if sort.IsZero() {
				continue
			}
			if truth, err := cond.Match(Item(it)); err != nil || truth != b.Key.Contains(sort) {
				t.Fatalf("%s: condition %v, range %v", attr.AppendJSON(nil, it), truth, !truth)
			}
		}
	})
}
