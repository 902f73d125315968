package expr

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// TestConditionModel: a random condition has the value that it was generated to have.
func TestConditionModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModelMaker(t)
		want := m.condition(0)
		c, err := parseCondition(formCondition, want.text, m.params)
		if err != nil {
			t.Fatalf("%s\n%v", want.text, err)
		}
		for range 3 {
			it := m.item()
			got, err := c.Match(attr.Encoded(attr.Encode(nil, it)))
			if err != nil {
				t.Fatal(err)
			}
			if got != want.truth(it) {
				t.Fatalf("%s is %v for %s", want.text, got, attr.AppendJSON(nil, it))
			}
		}
	})
}

// Left operands use other attributes than right ones, because a path compared with itself is refused.
var leftHeads, rightHeads = []string{"a", "b", "c", "l", "m"}, []string{"p", "q", "r", "ss", "ns"}

func (m *modelMaker) condition(depth int) modelCond {
	if depth < 4 && !m.once("flat", 3) {
		switch pick(m, "connective", "AND", "OR", "NOT") {
		case "AND":
			left, right := m.condition(depth+1), m.condition(depth+1)
			return modelCond{m.inner(left, 2) + m.word("AND") + m.inner(right, 3), 2,
				func(it attr.Item) bool { return left.truth(it) && right.truth(it) }}
		case "OR":
			left, right := m.condition(depth+1), m.condition(depth+1)
			return modelCond{m.inner(left, 1) + m.word("OR") + m.inner(right, 2), 1,
				func(it attr.Item) bool { return left.truth(it) || right.truth(it) }}
		default:
			one := m.condition(depth + 1)
			return modelCond{m.word("NOT") + m.inner(one, 3), 3, func(it attr.Item) bool { return !one.truth(it) }}
		}
	}
	return m.comparison()
}

// inner formats a condition as a part of another one: in parentheses if it binds less tightly than required.
func (m *modelMaker) inner(c modelCond, least int) string {
	if c.binds < least {
		return m.parens(c.text)
	}
	return m.maybeParens(c.text)
}

func (m *modelMaker) comparison() modelCond {
	switch pick(m, "comparison", "=", "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN", "function", "function") {
	case "=":
		return m.compared("=", true, func(l, r attr.Value) bool { return !l.IsZero() && attr.Equal(l, r) })
	case "<>":
		return m.compared("<>", true, func(l, r attr.Value) bool { return l.IsZero() || !attr.Equal(l, r) })
	case "<":
		return m.compared("<", false, func(l, r attr.Value) bool { return modelOrder(l, r) == -1 })
	case "<=":
		return m.compared("<=", false, func(l, r attr.Value) bool { o := modelOrder(l, r); return o == -1 || o == 0 })
	case ">":
		return m.compared(">", false, func(l, r attr.Value) bool { return modelOrder(l, r) == 1 })
	case ">=":
		return m.compared(">=", false, func(l, r attr.Value) bool { o := modelOrder(l, r); return o == 1 || o == 0 })
	case "BETWEEN":
		return m.between()
	case "IN":
		return m.in()
	}
	return m.function()
}

const unordered = 9

func modelOrder(l, r attr.Value) int {
	if order, ok := attr.Compare(l, r); ok {
		return order
	}
	return unordered
}

// operand draws the right side of a comparison.
func (m *modelMaker) operand(anyType bool) modelTerm {
	switch pick(m, "operand", "path", "size", "value", "value") {
	case "path":
		return m.path(rightHeads...)
	case "size":
		return m.size(rightHeads...)
	}
	if anyType {
		return m.literal(m.anyValue())
	}
	return m.literal(m.scalar())
}

func (m *modelMaker) left() modelTerm {
	if m.once("size", 5) {
		return m.size(leftHeads...)
	}
	return m.path(leftHeads...)
}

func (m *modelMaker) compared(sign string, anyType bool, holds func(l, r attr.Value) bool) modelCond {
	left, right := m.left(), m.operand(anyType)
	gap := pick(m, "gap", "", " ")
	return modelCond{m.maybeParens(left.text) + gap + sign + gap + m.maybeParens(right.text), 4,
		func(it attr.Item) bool { return holds(left.value(it), right.value(it)) }}
}

func (m *modelMaker) between() modelCond {
	of := m.left()
	low, high := m.literal(m.scalar()), m.operand(false)
	if v := high.value(nil); !v.IsZero() && modelOrder(low.value(nil), v) > 0 { // refused
		high = m.path(rightHeads...)
	}
	return modelCond{of.text + m.word("BETWEEN") + low.text + m.word("AND") + m.maybeParens(high.text), 4,
		func(it attr.Item) bool {
			v := of.value(it)
			return modelOrder(low.value(it), v) <= 0 && modelOrder(v, high.value(it)) <= 0
		}}
}

func (m *modelMaker) in() modelCond {
	of := m.left()
	var list []modelTerm
	var texts []string
	for range rapid.IntRange(1, 5).Draw(m.T, "operands") {
		one := m.operand(true)
		list, texts = append(list, one), append(texts, m.maybeParens(one.text))
	}
	return modelCond{of.text + m.word("IN") + "(" + strings.Join(texts, ", ") + ")", 4, func(it attr.Item) bool {
		v := of.value(it)
		return !v.IsZero() && slices.ContainsFunc(list, func(one modelTerm) bool { return attr.Equal(v, one.value(it)) })
	}}
}

func (m *modelMaker) function() modelCond {
	of := m.path(leftHeads...)
	switch pick(m, "function", "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains") {
	case "attribute_exists":
		return modelCond{"attribute_exists(" + of.text + ")", 4, func(it attr.Item) bool { return !of.value(it).IsZero() }}
	case "attribute_not_exists":
		return modelCond{"attribute_not_exists(" + m.maybeParens(of.text) + ")", 4,
			func(it attr.Item) bool { return of.value(it).IsZero() }}
	case "attribute_type":
		name := pick(m, "type", "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")
		return modelCond{"attribute_type(" + of.text + "," + m.literal(attr.S(name)).text + ")", 4,
			func(it attr.Item) bool { return of.value(it).Kind().String() == name }}
	case "begins_with":
		prefix := m.path(rightHeads...)
		if m.once("literal", 2) {
			prefix = m.literal(pick(m, "prefix", attr.S(""), attr.S("a"), attr.S("ab"), attr.B([]byte("a"))))
		}
		return modelCond{"begins_with(" + of.text + ", " + prefix.text + ")", 4,
			func(it attr.Item) bool { return modelBegins(of.value(it), prefix.value(it)) }}
	}
	part := m.operand(true)
	return modelCond{"contains(" + of.text + ", " + part.text + ")", 4,
		func(it attr.Item) bool { return modelContains(of.value(it), part.value(it)) }}
}

func modelBegins(v, prefix attr.Value) bool {
	return v.Kind() == attr.KindS && prefix.Kind() == attr.KindS && strings.HasPrefix(v.Str(), prefix.Str()) ||
		v.Kind() == attr.KindB && prefix.Kind() == attr.KindB && bytes.HasPrefix(v.Bytes(), prefix.Bytes())
}

func modelContains(v, part attr.Value) bool {
	var elements []attr.Value
	switch v.Kind() {
	case attr.KindS:
		return part.Kind() == attr.KindS && strings.Contains(v.Str(), part.Str())
	case attr.KindB:
		return part.Kind() == attr.KindB && bytes.Contains(v.Bytes(), part.Bytes())
	case attr.KindL:
		elements = v.List()
	case attr.KindSS:
		for _, member := range v.Strs() {
			elements = append(elements, attr.S(member))
		}
	case attr.KindNS:
		for _, member := range v.Strs() {
			elements = append(elements, number(member))
		}
	case attr.KindBS:
		for _, member := range v.ByteSets() {
			elements = append(elements, attr.B(member))
		}
	}
	return slices.ContainsFunc(elements, func(e attr.Value) bool { return attr.Equal(e, part) })
}
