package expr_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// costly has conditions that use a large attribute as often as a text has room for.
var costly = map[string]struct {
	term   string
	item   attr.Item
	values attr.Item
}{
	"a string":          {"contains(a, :v)", attr.Item{"a": attr.S(strings.Repeat("ab", 197_500))}, attr.Item{":v": attr.S("ba~")}},
	"a long piece":      {"contains(a, :v)", attr.Item{"a": attr.S(strings.Repeat("a", 390_000))}, attr.Item{":v": attr.S(strings.Repeat("a", 190_000) + "~")}},
	"a binary":          {"contains(a, :v)", attr.Item{"a": attr.B(make([]byte, 390_000))}, attr.Item{":v": attr.B([]byte{0, 0, 1})}},
	"a list":            {"contains(a, :v)", attr.Item{"a": nulls(100_000)}, attr.Item{":v": attr.S("x")}},
	"a list of alike":   {"contains(a, :v)", attr.Item{"a": attr.L(nulls(50_000), nulls(50_000))}, attr.Item{":v": attr.L(append(nulls(49_999).List(), attr.S(""))...)}},
	"equal lists":       {"a <> :v", attr.Item{"a": nulls(100_000)}, attr.Item{":v": nulls(100_000)}},
	"equal maps":        {"a <> :v", attr.Item{"a": attr.M(wide(20_000))}, attr.Item{":v": attr.M(wide(20_000))}},
	"equal sets":        {"a <> :v", attr.Item{"a": numbers(40_000)}, attr.Item{":v": numbers(40_000)}},
	"a set":             {"contains(a, :v)", attr.Item{"a": numbers(60_000)}, attr.Item{":v": attr.Int(-1)}},
	"the size of text":  {"size(a) = :v", attr.Item{"a": attr.S(strings.Repeat("é", 190_000))}, attr.Item{":v": attr.Int(-1)}},
	"many attributes":   {"attribute_exists(zz%d)", wide(60_000), nil},
	"one of many lists": {"a IN (:v, :v, :v, :v, :v)", attr.Item{"a": nulls(100_000)}, attr.Item{":v": attr.L(append(nulls(99_999).List(), attr.S(""))...)}},
}

func nulls(n int) attr.Value {
	list := make([]attr.Value, n)
	for i := range list {
		list[i] = attr.Null()
	}
	return attr.L(list...)
}

func wide(n int) attr.Item {
	it := attr.Item{}
	for i := range n {
		it[fmt.Sprintf("k%d", i)] = attr.Null()
	}
	return it
}

func numbers(n int) attr.Value {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	set, err := attr.NS(texts...)
	if err != nil {
		panic(err)
	}
	return set
}

func costlyCondition(t testing.TB, name string) *expr.Condition {
	c := costly[name]
	var terms []string
	for i := 0; len(terms) < 95*2/(1+max(1, strings.Count(c.term, ":v"))) && len(strings.Join(terms, " OR ")) < 4000-len(c.term); i++ {
		term := c.term
		if strings.Contains(term, "%d") {
			term = fmt.Sprintf(term, i)
		}
		terms = append(terms, term)
	}
	cond, err := expr.ParseFilter(strings.Join(terms, " OR "), expr.Params{Values: c.values})
	if err != nil {
		t.Fatal(err)
	}
	return cond
}

// A condition that uses a large attribute many times is stopped by its budget, always at the same place; one that uses it once is not.
func TestWorkEndsTheCostly(t *testing.T) {
	for name, c := range costly {
		doc := attr.Encoded(attr.Encode(nil, c.item))
		cond := costlyCondition(t, name)
		var spent [2]int
		for i := range spent {
			w := expr.NewWork(8<<20, nil)
			_, err := cond.MatchWithin(doc, w)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || f.Code != expr.CodeWork {
				t.Errorf("%s: %v after %d units", name, err, w.UnitsSpent())
			}
			if again := w.Spend(0); !errors.Is(again, err) {
				t.Errorf("%s: then %v", name, again)
			}
			spent[i] = w.UnitsSpent()
		}
		if spent[0] != spent[1] {
			t.Errorf("%s: ended after %d units, and after %d", name, spent[0], spent[1])
		}
		if name == "a long piece" || name == "one of many lists" { // a single use costs as much as many
			continue
		}
		once := costlyTerm(t, name)
		if _, err := once.MatchWithin(doc, expr.NewWork(8<<20, nil)); err != nil {
			t.Errorf("%s, looked at once: %v", name, err)
		}
	}
}

func costlyTerm(t testing.TB, name string) *expr.Condition {
	c := costly[name]
	cond, err := expr.ParseFilter(strings.ReplaceAll(c.term, "%d", ""), expr.Params{Values: c.values})
	if err != nil {
		t.Fatal(err)
	}
	return cond
}

// An update is stopped by its budget too.
func TestWorkEndsUpdates(t *testing.T) {
	it := attr.Item{"k": attr.S("k"), "l": nulls(100), "s": numbers(1000)}
	for i := range 100 {
		it[fmt.Sprintf("s%d", i)] = numbers(1000)
	}
	var actions []string
	for i := range 100 {
		actions = append(actions, fmt.Sprintf("s%d :s", i))
	}
	for _, text := range []string{"ADD " + strings.Join(actions, ", "), "DELETE " + strings.Join(actions, ", "), "SET m = list_append(l, l)"} {
		params := expr.Params{}
		if strings.Contains(text, ":s") {
			params.Values = attr.Item{":s": numbers(1000)}
		}
		u, err := expr.ParseUpdate(text, params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.ApplyWithin(it, expr.NewWork(1000, nil)); !isWork(err) {
			t.Errorf("%.20s: %v", text, err)
		}
		if _, err := u.ApplyWithin(it, expr.NewWork(100<<20, nil)); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func isWork(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == expr.CodeWork
}

// An attribute in a condition is read from the item once, even a string: 140 copies of it would be 55 MB.
func TestLargeOperandIsReadOnce(t *testing.T) {
	for _, name := range []string{"a string", "a binary", "a list", "a set"} {
		doc := attr.Encoded(attr.Encode(nil, costly[name].item))
		cond := costlyCondition(t, name)
		var before, behind runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := cond.Match(doc); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&behind)
		if took := (behind.TotalAlloc - before.TotalAlloc) >> 20; took > 16 {
			t.Errorf("%s: %d MB", name, took)
		}
	}
}

// pause is called between two stretches, and can end the evaluation.
func TestWorkPauses(t *testing.T) {
	c := costly["a string"]
	doc := attr.Encoded(attr.Encode(nil, c.item))
	asked := 0
	w := expr.NewWork(1<<40, func(int) error {
		if asked++; asked == 3 {
			return context.Canceled
		}
		return nil
	})
	_, err := costlyCondition(t, "a string").MatchWithin(doc, w)
	if !errors.Is(err, context.Canceled) || asked != 3 || w.UnitsSpent() > 5<<20 {
		t.Errorf("%v, asked %d times, %d units", err, asked, w.UnitsSpent())
	}
}

// Parsing a text counts towards the budget, and costs nothing if the text is in the cache.
func TestWorkOfParsing(t *testing.T) {
	cache := expr.NewCache(10)
	r := expr.Request{Condition: "attribute_exists(" + strings.Repeat("a", 200) + ")", Work: expr.NewWork(10_000, nil)}
	if _, err := cache.Bind(r); !isWork(err) {
		t.Errorf("parsed with a small budget: %v", err)
	}
	r.Work = nil
	if _, err := cache.Bind(r); err != nil {
		t.Fatal(err)
	}
	r.Work = expr.NewWork(10_000, nil)
	if _, err := cache.Bind(r); err != nil {
		t.Errorf("from the cache: %v", err)
	}
}

// contains finds what strings.Contains finds.
func TestContainsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 200, -1)
		text := few.Draw(t, "text")
		piece := few.Draw(t, "piece")
		if rapid.Bool().Draw(t, "cut from it") && text != "" {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			piece = text[from:rapid.IntRange(from, len(text)).Draw(t, "to")]
		}
		cond, err := expr.ParseFilter("contains(a, :v)", expr.Params{Values: attr.Item{":v": attr.S(piece)}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := cond.Match(expr.Item{"a": attr.S(text)}); err != nil || got != strings.Contains(text, piece) {
			t.Fatalf("%q in %q: %v, %v", piece, text, got, err)
		}
	})
}
