package partiql

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The tests' tables: "ttt" of pk and sk, with an index of all attributes by g and sk, and a local one of the keys only by pk and l;
// "hhh" of pk.
func testKey(table string) Key {
	k := Key{Partition: Attr{"pk", attr.KindS}}
	if table == "ttt" {
		k.Sort = Attr{"sk", attr.KindN}
	}
	return k
}

func testSource(s *Statement) Source {
	src := Source{Table: testKey(s.Table)}
	switch s.Index {
	case "gidx":
		src.Index = &Index{Name: s.Index, Key: Key{Attr{"g", attr.KindS}, Attr{"sk", attr.KindN}}, Shows: func(string) bool { return true }}
	case "lidx":
		shows := func(name string) bool { return name == "pk" || name == "sk" || name == "l" }
		src.Index = &Index{Name: s.Index, Key: Key{Attr{"pk", attr.KindS}, Attr{"l", attr.KindS}}, Shows: shows}
	}
	return src
}

// TestCompile compares compiled statements with a golden file, which also contains the statements.
func TestCompile(t *testing.T) {
	file := filepath.Join("testdata", "compile.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cases := 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			out.WriteString(block + "\n\n")
			continue
		}
		head, want, _ := strings.Cut(block, "\n=")
		want = "=" + want
		cases++
		text, values, _ := strings.Cut(strings.TrimPrefix(head, "> "), "\n? ")
		params := attr.L().List()
		if values != "" {
			v, err := attr.ParseValueJSON([]byte(`{"L":` + values + `}`))
			if err != nil {
				t.Fatalf("%s: %v", values, err)
			}
			params = v.List()
		}
		got := compiled(text, params)
		if got != want && !*update {
			t.Errorf("%s\ngot  %s\nwant %s", head, got, want)
		}
		out.WriteString(head + "\n" + got + "\n\n")
	}
	if cases < 300 {
		t.Errorf("%d cases are too few", cases)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// compiled returns a compiled statement in the format of the golden file.
func compiled(text string, params []attr.Value) string {
	s, err := Parse(text)
	if err != nil {
		return "= error " + err.Error()
	}
	out, err := compile(s, params)
	if err != nil {
		return "= error " + err.Error()
	}
	return out
}

func compile(s *Statement, params []attr.Value) (string, error) {
	var out strings.Builder
	key := testKey(s.Table)
	switch s.Kind {
	case Select:
		r, err := s.Read(params, testSource(s))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "= read %s", s.Table)
		r.tell(&out)
		if _, single, _ := s.SingleItem(params, key); single != (r.Key != nil) {
			fmt.Fprintf(&out, "\n  single item: %v", single)
		}
	case Insert:
		p, err := s.Write(params, key)
		if err == nil {
			err = p.BadKey
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "= put %s %s\n  if %s", s.Table, attr.AppendJSON(nil, p.Item), p.Condition)
		tellParams(&out, p.Names, p.Values)
	default:
		c, err := s.Write(params, key)
		if err == nil {
			err = c.BadKey
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "= %s %s %s", map[Kind]string{Update: "update", Delete: "delete", Exists: "check"}[s.Kind], s.Table,
			attr.AppendJSON(nil, c.Key))
		tellText(&out, "do", c.Update)
		tellText(&out, "if", c.Condition)
		tellText(&out, "returning", s.Returning.String())
		tellParams(&out, c.Names, c.Values)
	}
	return out.String(), nil
}

func (r Read) tell(out *strings.Builder) {
	if r.Descending {
		out.WriteString(" descending")
	}
	if r.After != nil {
		fmt.Fprintf(out, " and a condition on %v", r.After.Attributes())
	}
	if r.Columns != nil {
		for _, c := range r.Columns.all {
			fmt.Fprintf(out, " %q", c.name)
		}
	}
	for _, s := range r.Steps {
		switch {
		case r.Key != nil:
			fmt.Fprintf(out, "\n  get %s", attr.AppendJSON(nil, r.Key))
		case r.Scan:
			out.WriteString("\n  scan")
		default:
			fmt.Fprintf(out, "\n  query %s", s.KeyCondition)
		}
		tellText(out, "  filter", s.Filter)
		tellText(out, "  show", s.Projection)
		tellParams(out, s.Names, s.Values)
	}
}

func tellText(out *strings.Builder, what, text string) {
	if text != "" {
		fmt.Fprintf(out, "\n  %s %s", what, text)
	}
}

func tellParams(out *strings.Builder, names map[string]string, values attr.Item) {
	var list []string
	for p, name := range names {
		list = append(list, p+" "+name)
	}
	for p, v := range values {
		list = append(list, p+" "+string(attr.AppendValueJSON(nil, v)))
	}
	slices.Sort(list)
	if len(list) > 0 {
		fmt.Fprintf(out, "\n    where %s", strings.Join(list, ", "))
	}
}
