package expr_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// An update of many actions does not create hundreds of items of maximum size.
func TestUpdateTooLarge(t *testing.T) {
	list := make([]attr.Value, 190_000)
	for i := range list {
		list[i] = attr.Null()
	}
	members := make([]string, 50_000)
	for i := range members {
		members[i] = fmt.Sprintf("%07d", i)
	}
	set, err := attr.SS(members...)
	if err != nil {
		t.Fatal(err)
	}
	small, err := attr.SS("0000001", "x")
	if err != nil {
		t.Fatal(err)
	}
	it := attr.Item{"l": attr.L(list...), "t": attr.S(strings.Repeat("x", 300_000))}
	for i := range 140 {
		it[fmt.Sprintf("s%d", i)] = small
	}
	many := func(action, format string) string {
		terms := make([]string, 140)
		for i := range terms {
			terms[i] = fmt.Sprintf(format, i)
		}
		return action + " " + strings.Join(terms, ",")
	}
	const tooLarge = "Item size to update has exceeded the maximum allowed size"
	for text, want := range map[string]string{
		many("SET", "m%d=list_append(l,l)"): tooLarge,
		many("SET", "m%d=l"):                tooLarge,
		many("SET", "m%d=t"):                tooLarge,
		many("ADD", "m%d :s"):               tooLarge,
		many("ADD", "s%d :s"):               tooLarge,
		many("DELETE", "s%d :s"):            "",
	} {
		params := expr.Params{}
		if strings.Contains(text, ":s") {
			params.Values = attr.Item{":s": set}
		}
		u, err := expr.ParseUpdate(text, params)
		if err != nil {
			t.Fatal(err)
		}
		var before, behind runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := u.Apply(it)
		runtime.ReadMemStats(&behind)
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%.30s: %v", text, err)
		}
		if took := (behind.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
			t.Errorf("%.30s takes %d MB", text, took)
		}
		if want == "" && len(got["s7"].Strs()) != 1 {
			t.Errorf("%.30s leaves %s", text, got["s7"])
		}
	}
}

// A list that a condition names many times is read from the item once.
func TestConditionReadsOnce(t *testing.T) {
	c, err := expr.ParseFilter(strings.TrimSuffix(strings.Repeat("contains(l, :a) OR l[0] = :a OR ", 50), " OR "),
		expr.Params{Values: attr.Item{":a": attr.S("x")}})
	if err != nil {
		t.Fatal(err)
	}
	doc := &countingDoc{Doc: expr.Item(attr.Item{"l": attr.L(attr.S("y"))})}
	if ok, err := c.Match(doc); ok || err != nil || doc.gets != 1 {
		t.Errorf("%v, %v, read %d times", ok, err, doc.gets)
	}
}

type countingDoc struct {
	expr.Doc
	gets int
}

func (d *countingDoc) Get(name string) (attr.Value, bool, error) {
	d.gets++
	return d.Doc.Get(name)
}
