package expr

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// The model of an update works on a mutable tree: *modelMap, *modelList, or an attr.Value. It applies one action after the other, SETs
// first and removals of list elements last; all right sides are computed before.
type (
	modelMap  map[string]any
	modelList struct{ elems []any }
	modelGone struct{} // a removed list element that still counts
)

var errModel = errors.New("the update does not fit the item")

func thaw(v attr.Value) any {
	switch v.Kind() {
	case attr.KindM:
		return thawItem(v.Map())
	case attr.KindL:
		list := &modelList{}
		for _, e := range v.List() {
			list.elems = append(list.elems, thaw(e))
		}
		return list
	}
	return v
}

func thawItem(it attr.Item) modelMap {
	out := modelMap{}
	for name, v := range it {
		out[name] = thaw(v)
	}
	return out
}

func freeze(n any) attr.Value {
	switch n := n.(type) {
	case modelMap:
		return attr.M(freezeItem(n))
	case *modelList:
		var list []attr.Value
		for _, e := range n.elems {
			if _, gone := e.(modelGone); !gone {
				list = append(list, freeze(e))
			}
		}
		return attr.L(list...)
	}
	return n.(attr.Value)
}

func freezeItem(m modelMap) attr.Item {
	it := attr.Item{}
	for name, n := range m {
		it[name] = freeze(n)
	}
	return it
}

// put sets the value at a path, or removes it if the value is zero.
func (root modelMap) put(steps []any, v attr.Value) error {
	var at any = root
	for _, s := range steps[:len(steps)-1] {
		at = modelStep(at, s)
	}
	switch last := steps[len(steps)-1].(type) {
	case string:
		parent, ok := at.(modelMap)
		if !ok {
			return errModel
		}
		parent[last] = thaw(v)
		if v.IsZero() {
			delete(parent, last)
		}
	case int:
		parent, ok := at.(*modelList)
		if !ok {
			return errModel
		}
		parent.put(last, v)
	}
	return nil
}

func (l *modelList) put(index int, v attr.Value) {
	switch {
	case index < len(l.elems) && v.IsZero():
		l.elems[index] = modelGone{}
	case index < len(l.elems):
		l.elems[index] = thaw(v)
	case !v.IsZero():
		l.elems = append(l.elems, thaw(v))
	}
}

func modelStep(n, step any) any {
	switch s := step.(type) {
	case string:
		if m, ok := n.(modelMap); ok {
			return m[s]
		}
	case int:
		if l, ok := n.(*modelList); ok && s < len(l.elems) {
			return l.elems[s]
		}
	}
	return nil
}

// modelAction is an action: its clause, its text, the place it changes and the value it leaves there.
type modelAction struct {
	clause, text string
	steps        []any
	value        func(it attr.Item) (attr.Value, error)
}

// modelTargets has places of which none contains another; indexes ascend, so that appends are in order.
var modelTargets = [][]any{{"a"}, {"b"}, {"ss"}, {"ns"}, {"zz"}, {"p"}, {"q", "x"}, {"l", 0}, {"l", 1}, {"l", 2}, {"l", 5},
	{"l", 9}, {"m", "x"}, {"m", "w"}, {"m", "l", 0}, {"m", "l", 1}, {"m", "l", 7}, {"m", "y", "z"}, {"m", "y", "v"}}

// TestUpdateModel: a random update has the effect that it was generated to have, and does not change its input.
func TestUpdateModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModelMaker(t)
		actions := m.actions()
		text := m.updateText(actions)
		u, err := ParseUpdate(text, m.params)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		it := m.item()
		before := attr.Encode(nil, it)
		got, err := u.Apply(it)
		if string(attr.Encode(nil, it)) != string(before) {
			t.Fatalf("%s changed its input", text)
		}
		want, wantErr := modelApply(actions, it)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%s of %s\n got  %v\n want %v", text, attr.AppendJSON(nil, it), err, wantErr)
		}
		if err == nil && !attr.Equal(attr.M(got), attr.M(want)) {
			t.Fatalf("%s of %s\n got  %s\n want %s", text, attr.AppendJSON(nil, it), attr.AppendJSON(nil, got),
				attr.AppendJSON(nil, want))
		}
	})
}

func modelApply(actions []modelAction, it attr.Item) (attr.Item, error) {
	values := make([]attr.Value, len(actions))
	for i, a := range actions {
		var err error
		if values[i], err = a.value(it); err != nil {
			return nil, err
		}
	}
	root := thawItem(it)
	for i, a := range actions {
		if err := root.put(a.steps, values[i]); err != nil {
			return nil, err
		}
	}
	return freezeItem(root), nil
}

func (m *modelMaker) actions() []modelAction {
	var out []modelAction
	chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, len(modelTargets)-1), 1, 6, rapid.ID).Draw(m.T, "targets")
	slices.Sort(chosen)
	for _, i := range chosen {
		steps := modelTargets[i]
		at := m.pathText(steps)
		old := func(it attr.Item) attr.Value { return modelLookup(attr.M(it), steps) }
		switch clause := pick(m, "clause", "SET", "SET", "REMOVE", "ADD", "DELETE"); clause {
		case "SET":
			text, value := m.rightSide()
			out = append(out, modelAction{clause, at + m.space() + "=" + m.space() + text, steps, value})
		case "REMOVE":
			nothing := func(attr.Item) (attr.Value, error) { return attr.Value{}, nil }
			out = append(out, modelAction{clause, at, steps, nothing})
		default:
			operand := m.setOperand(clause == "ADD")
			value := func(it attr.Item) (attr.Value, error) { return modelSets(clause, old(it), operand) }
			out = append(out, modelAction{clause, at + " " + m.literal(operand).text, steps, value})
		}
	}
	return out
}

// updateText formats the actions, each clause once, in some order.
func (m *modelMaker) updateText(actions []modelAction) string {
	var clauses []string
	for _, clause := range rapid.Permutation([]string{"SET", "REMOVE", "ADD", "DELETE"}).Draw(m.T, "order") {
		var texts []string
		for _, a := range actions {
			if a.clause == clause {
				texts = append(texts, a.text)
			}
		}
		if len(texts) > 0 {
			clauses = append(clauses, m.word(clause)+strings.Join(texts, m.space()+","+m.space()))
		}
	}
	return strings.Join(clauses, " ")
}

func (m *modelMaker) setOperand(numbers bool) attr.Value {
	if numbers && m.once("number", 2) {
		return pick(m, "addend", attr.Int(1), attr.Int(-7), number("0.25"))
	}
	return pick(m, "operand", set(attr.SS("ab")), set(attr.SS("ab", "c", "d")), set(attr.NS("1", "2")), set(attr.NS("2", "9")),
		set(attr.BS([]byte("ab"))))
}

// modelSets is ADD and DELETE for sets, with linear searches instead of maps.
func modelSets(clause string, old, operand attr.Value) (attr.Value, error) {
	switch {
	case old.IsZero() && clause == "ADD":
		return operand, nil
	case old.IsZero():
		return attr.Value{}, nil
	case old.Kind() != operand.Kind():
		return attr.Value{}, errModel
	case old.Kind() == attr.KindN:
		return attr.Add(old, operand)
	}
	there, given := modelMembers(old), modelMembers(operand)
	var left []string
	for _, member := range there {
		if clause == "ADD" || !slices.Contains(given, member) {
			left = append(left, member)
		}
	}
	for _, member := range given {
		if clause == "ADD" && !slices.Contains(there, member) {
			left = append(left, member)
		}
	}
	if len(left) == 0 {
		return attr.Value{}, nil
	}
	return makeSet(old.Kind(), left)
}

func makeSet(kind attr.Kind, members []string) (attr.Value, error) {
	switch kind {
	case attr.KindSS:
		return attr.SS(members...)
	case attr.KindNS:
		return attr.NS(members...)
	}
	binary := make([][]byte, len(members))
	for i, member := range members {
		binary[i] = []byte(member)
	}
	return attr.BS(binary...)
}

func modelMembers(v attr.Value) []string {
	members := slices.Clone(v.Strs())
	for _, member := range v.ByteSets() {
		members = append(members, string(member))
	}
	return members
}

type modelValue func(it attr.Item) (attr.Value, error)

// rightSide draws the right side of a SET.
func (m *modelMaker) rightSide() (string, modelValue) {
	left, l := m.setTerm(2)
	right, r := m.setTerm(2)
	switch pick(m, "right side", "term", "term", "+", "-", "list_append") {
	case "+":
		return m.maybeParens(left + m.space() + "+" + right), modelBoth(l, r, attr.KindN, attr.Add)
	case "-":
		return m.maybeParens(left + "-" + m.space() + right), modelBoth(l, r, attr.KindN, attr.Sub)
	case "list_append":
		return "list_append(" + left + "," + right + ")", modelBoth(l, r, attr.KindL, modelAppend)
	}
	return left, l
}

// setTerm draws an operand of a right side. Its type is never known before the item is, so that nothing is refused.
func (m *modelMaker) setTerm(depth int) (string, modelValue) {
	at := m.path("a", "b", "l", "m", "ns")
	value := func(it attr.Item) (attr.Value, error) {
		v := at.value(it)
		if v.IsZero() {
			return v, errModel
		}
		return v, nil
	}
	if depth == 0 || m.once("path", 2) {
		return m.maybeParens(at.text), value
	}
	text, instead := m.setTerm(depth - 1)
	other := m.path("c", "p", "ss")
	if m.once("literal", 2) {
		lit := m.literal(m.anyValue())
		text, instead = lit.text, func(it attr.Item) (attr.Value, error) { return lit.value(it), nil }
	}
	return m.maybeParens("if_not_exists(" + other.text + ", " + text + ")"), func(it attr.Item) (attr.Value, error) {
		v, err := instead(it)
		if there := other.value(it); err == nil && !there.IsZero() {
			return there, nil
		}
		return v, err
	}
}

func modelBoth(l, r modelValue, kind attr.Kind, do func(a, b attr.Value) (attr.Value, error)) modelValue {
	return func(it attr.Item) (attr.Value, error) {
		a, errA := l(it)
		b, errB := r(it)
		if errA != nil || errB != nil || a.Kind() != kind || b.Kind() != kind {
			return attr.Value{}, errModel
		}
		return do(a, b)
	}
}

func modelAppend(a, b attr.Value) (attr.Value, error) {
	return attr.L(append(slices.Clone(a.List()), b.List()...)...), nil
}
