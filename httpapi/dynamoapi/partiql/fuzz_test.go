package partiql

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// FuzzStatement takes a text, and parameters as DynamoDB JSON. For any input: nothing panics, refusals have a code, parsing again gives
// the same, and an accepted statement's expressions are accepted too, or refused in their words.
func FuzzStatement(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "compile.txt"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			f.Add(text, []byte(`[{"S":"a"},{"N":"1"}]`))
		}
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, text string, values []byte) {
		s, err := Parse(text)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		if !utf8.ValidString(text) || s.Table == "" {
			t.Fatalf("accepted %q", text)
		}
		params := parameters(values, s.params)
		if _, err := compile(s, params[:len(params)/2]); err != nil {
			checkRefusal(t, err)
		}
		if first, second := compiled(text, params), compiled(text, params); first != second {
			t.Fatalf("%s\n%s\n%s", text, first, second)
		}
		if err := bind(s, params); err != nil {
			checkRefusal(t, err)
		}
	})
}

// parameters returns as many values as the text needs, from a list in DynamoDB JSON.
func parameters(values []byte, n int) []attr.Value {
	out := make([]attr.Value, n)
	v, err := attr.ParseValueJSON([]byte(`{"L":` + string(values) + `}`))
	for i := range out {
		out[i] = attr.S("v")
		if list := v.List(); err == nil && len(list) > 0 {
			out[i] = list[i%len(list)]
		}
	}
	return out
}

// bind compiles a statement and binds its expressions, as the store does.
func bind(s *Statement, params []attr.Value) error {
	key := testKey(s.Table)
	if s.Kind == Select {
		return bindRead(s, params)
	}
	change, err := s.Write(params, key)
	if err == nil {
		_, err = expr.Bind(expr.Request{Update: change.Update, Condition: change.Condition, Params: change.Params})
	}
	return err
}

func bindRead(s *Statement, params []attr.Value) error {
	src := testSource(s)
	r, err := s.Read(params, src)
	if err != nil {
		return err
	}
	key := &expr.Key{Attrs: []expr.KeyAttr{{Name: src.key().Partition.Name}}, Partition: 1}
	if sort := src.key().Sort.Name; sort != "" {
		key.Attrs = append(key.Attrs, expr.KeyAttr{Name: sort})
	}
	for _, step := range r.Steps {
		_, err := expr.Bind(expr.Request{
			KeyCondition: step.KeyCondition, Filter: step.Filter, Projection: step.Projection, Params: step.Params,
			Key: key,
		})
		if err != nil {
			return err
		}
	}
	for _, it := range []attr.Item{nil, {"pk": attr.S("a"), "m": attr.L(attr.Int(1), attr.M(attr.Item{"x": attr.Null()}))}} {
		for name, v := range r.Columns.ShownPart(it) {
			if v.IsZero() {
				return errors.New("an absent value under " + name)
			}
		}
	}
	return nil
}

// checkRefusal requires an error that may be shown to the author of the text. Syntax errors of an expression would be our bug: a
// well-formed statement compiles to well-formed expressions.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code != "validation" || f.Message == "" {
		t.Fatalf("%#v", err)
	}
	for _, ours := range []string{"Syntax error", "redundant parentheses", "unused in expressions", "not defined", "not used in expressions"} {
		if strings.Contains(f.Message, ours) {
			t.Fatalf("a faulty expression: %v", err)
		}
	}
}

// TestDeep parses texts of maximum depth and length.
func TestDeep(t *testing.T) {
	for _, c := range []struct{ before, open, middle, shut, after string }{
		{"SELECT * FROM ttt WHERE ", "(", "pk='a'", ")", ""},
		{"SELECT * FROM ttt WHERE ", "NOT ", "pk='a'", "", ""},
		{"SELECT * FROM ttt WHERE ", "NOT (", "pk='a'", ")", ""},
		{"SELECT * FROM ttt WHERE ", "(a=1 OR ", "b=1", ")", ""},
		{"SELECT * FROM ttt WHERE ", "a=1 AND (b=1 OR ", "c=1", ")", ""},
		{"SELECT * FROM ttt WHERE a=", "-", "1", "", ""},
		{"SELECT * FROM ttt WHERE a=", "[", "1", "]", ""},
		{"SELECT * FROM ttt WHERE a=", "{'a':", "1", "}", ""},
		{"SELECT * FROM ttt WHERE ", "size(", "a", ")", "=1"},
		{"SELECT * FROM ttt WHERE a", ".b", "", "", "=1"},
		{"SELECT * FROM ttt WHERE a", "[0]", "", "", "=1"},
		{"SELECT * FROM ttt WHERE a", "=1", "", "", ""},
		{"UPDATE ttt SET a=1", "+1", "", "", " WHERE pk='a' AND sk=1"},
		{"UPDATE ttt SET a=", "list_append(b,", "c", ")", " WHERE pk='a' AND sk=1"},
		{"INSERT INTO ttt VALUE {'pk':'a','sk':1,'x':", "<<", "1", ">>", "}"},
		{"SELECT * FROM ttt WHERE a IN (1", ",1", "", "", ")"},
		{"SELECT a", ",a", "", "", " FROM ttt"},
		{"", "(", "", "", ""}, {"", "/*", "", "*/", ""}, {"SELECT '", "''", "", "", ""},
	} {
		for _, n := range []int{1, 30, 300, 8000 / (len(c.open) + len(c.shut))} {
			text := c.before + strings.Repeat(c.open, n) + c.middle + strings.Repeat(c.shut, n) + c.after
			s, err := Parse(text)
			if err == nil {
				err = bind(s, make([]attr.Value, s.params))
			}
			if err != nil {
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Invalid {
					t.Errorf("%.60s: %v", text, err)
				}
			}
		}
	}
}
