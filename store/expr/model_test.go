package expr

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// The model is a second, naive interpretation of the language: the generator produces the text of an expression and, independently of the
// parser, a function with its meaning.

// modelTerm is an operand: its text and its value, which may be absent.
type modelTerm struct {
	text  string
	value func(it attr.Item) attr.Value
}

// modelCond is a condition: its text, how tightly it binds, and its truth.
type modelCond struct {
	text  string
	binds int // 1 OR, 2 AND, 3 NOT, 4 comparison or function
	truth func(it attr.Item) bool
}

// modelMaker draws expressions and collects their parameters.
type modelMaker struct {
	*rapid.T
	params Params
}

func newModelMaker(t *rapid.T) *modelMaker {
	return &modelMaker{T: t, params: Params{Names: map[string]string{}, Values: attr.Item{}}}
}

func pick[V any](m *modelMaker, label string, from ...V) V {
	return rapid.SampledFrom(from).Draw(m.T, label)
}

func (m *modelMaker) once(label string, in int) bool {
	return rapid.IntRange(1, in).Draw(m.T, label) == 1
}

// space returns white space that may separate two tokens.
func (m *modelMaker) space() string { return pick(m, "space", " ", " ", " ", "  ", "\n", "\t ") }

// word returns a keyword in upper or lower case.
func (m *modelMaker) word(w string) string {
	if m.once("lower", 4) {
		w = strings.ToLower(w)
	}
	return m.space() + w + m.space()
}

func (m *modelMaker) parens(text string) string { return "(" + m.space() + text + m.space() + ")" }

// maybeParens sometimes adds parentheses that change nothing; two pairs would be refused.
func (m *modelMaker) maybeParens(text string) string {
	if m.once("parens", 5) {
		return m.parens(text)
	}
	return text
}

// scalars are values with an order.
func (m *modelMaker) scalar() attr.Value {
	return pick(m, "scalar", attr.Int(1), attr.Int(2), attr.Int(-1), number("1.5"), attr.S(""), attr.S("ab"),
		attr.S("abc"), attr.S("é"), attr.B([]byte("ab")), attr.B([]byte("abc")))
}

func (m *modelMaker) anyValue() attr.Value {
	if m.once("scalar", 2) {
		return m.scalar()
	}
	return pick(m, "value", attr.Bool(true), attr.Bool(false), attr.Null(), attr.L(), attr.L(attr.Int(1), attr.S("ab")),
		attr.M(attr.Item{}), attr.M(attr.Item{"x": attr.Int(1)}), set(attr.SS("ab", "c")), set(attr.SS("ab")),
		set(attr.NS("1", "2")), set(attr.NS("2")), set(attr.BS([]byte("ab"))), set(attr.BS([]byte("ab"), []byte("c"))))
}

func set(v attr.Value, err error) attr.Value {
	if err != nil {
		panic(err)
	}
	return v
}

func number(text string) attr.Value { return set(attr.N(text)) }

// item draws an item with the attributes that the expressions use.
func (m *modelMaker) item() attr.Item {
	it := attr.Item{}
	for _, name := range []string{"a", "b", "c", "p", "q", "r", "ss", "ns"} {
		if !m.once("absent", 5) {
			it[name] = m.anyValue()
		}
	}
	if !m.once("no list", 8) {
		it["l"] = m.list()
	}
	if !m.once("no map", 8) {
		it["m"] = attr.M(attr.Item{"x": m.anyValue(), "l": m.list(), "y": attr.M(attr.Item{"z": m.anyValue()})})
	}
	return it
}

func (m *modelMaker) list() attr.Value {
	var list []attr.Value
	for range rapid.IntRange(0, 4).Draw(m.T, "length") {
		list = append(list, m.anyValue())
	}
	return attr.L(list...)
}

// literal returns a placeholder for a value, a new one or an existing one.
func (m *modelMaker) literal(v attr.Value) modelTerm {
	placeholder := fmt.Sprintf(":v%d", rapid.IntRange(0, 400).Draw(m.T, "placeholder"))
	if there, ok := m.params.Values[placeholder]; ok && !attr.Equal(there, v) {
		placeholder = fmt.Sprintf(":n%d", len(m.params.Values))
	}
	m.params.Values[placeholder] = v
	return modelTerm{text: placeholder, value: func(attr.Item) attr.Value { return v }}
}

// path draws a document path that begins with one of the names.
func (m *modelMaker) path(heads ...string) modelTerm {
	steps := []any{pick(m, "head", heads...)}
	for m.once("deeper", 3) && len(steps) < 4 {
		steps = append(steps, pick[any](m, "step", "x", "l", "y", "z", 0, 1, 3))
	}
	return modelTerm{
		text:  m.pathText(steps),
		value: func(it attr.Item) attr.Value { return modelLookup(attr.M(it), steps) },
	}
}

func (m *modelMaker) pathText(steps []any) string {
	var b strings.Builder
	for i, s := range steps {
		switch s := s.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if i > 0 {
				b.WriteString(".")
			}
			if m.once("named", 4) {
				m.params.Names["#"+s] = s
				s = "#" + s
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// modelLookup walks down a value.
func modelLookup(v attr.Value, steps []any) attr.Value {
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			if v.Kind() != attr.KindM {
				return attr.Value{}
			}
			v = v.Map()[s]
		case int:
			if v.Kind() != attr.KindL || s >= len(v.List()) {
				return attr.Value{}
			}
			v = v.List()[s]
		}
	}
	return v
}

// size returns a call of the function size.
func (m *modelMaker) size(heads ...string) modelTerm {
	of := m.path(heads...)
	return modelTerm{text: "size(" + m.maybeParens(of.text) + ")", value: func(it attr.Item) attr.Value {
		switch v := of.value(it); v.Kind() {
		case attr.KindS:
			n := 0
			for _, r := range v.Str() {
				n++
				if r > 0xFFFF {
					n++
				}
			}
			return attr.Int(int64(n))
		case attr.KindB:
			return attr.Int(int64(len(v.Bytes())))
		case attr.KindL:
			return attr.Int(int64(len(v.List())))
		case attr.KindM:
			return attr.Int(int64(len(v.Map())))
		case attr.KindSS, attr.KindNS:
			return attr.Int(int64(len(v.Strs())))
		case attr.KindBS:
			return attr.Int(int64(len(v.ByteSets())))
		}
		return attr.Value{}
	}}
}
