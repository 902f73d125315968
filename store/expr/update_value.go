package expr

import (
	"math/bits"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// result returns the value that an action leaves at its path; the zero Value means none.
func (s *scope) result(a *action) (attr.Value, error) {
	if err := s.reach(a.path); err != nil {
		return attr.Value{}, err
	}
	switch a.kind {
	case actionRemove:
		return attr.Value{}, nil
	case actionSet:
		return s.rightSide(&a.value)
	}
	old, err := s.valueAt(a.path)
	if err != nil {
		return attr.Value{}, err
	}
	operand := s.values[a.value.value]
	switch {
	case old.IsZero() && a.kind == actionAdd:
		return operand, nil
	case old.IsZero():
		return attr.Value{}, nil
	case old.Kind() != operand.Kind():
		return attr.Value{}, wrongOperand()
	case old.Kind() == attr.KindN:
		return attr.Add(old, operand)
	}
	return s.joinSets(a.kind, old, operand)
}

// joinSets returns the result of ADD or DELETE for a set and an operand of its type. It is the zero Value if no member is left, because
// there are no empty sets.
func (s *scope) joinSets(kind actionKind, old, operand attr.Value) (attr.Value, error) {
	have, given := len(old.Members()), len(operand.Members())
	cost := (have + given) * perMember
	if kind == actionDelete {
		cost = have * bits.Len(uint(given)) * perMember
	}
	if err := s.work.Spend(cost); err != nil {
		return attr.Value{}, err
	}
	if kind == actionAdd {
		return attr.Union(old, operand), nil
	}
	return attr.Difference(old, operand), nil
}

// reach refuses a path whose last step has no map or list to go into: "SET a.b = :x" needs a map at a.
func (s *scope) reach(p path) error {
	last := len(p) - 1
	if last == 0 {
		return nil
	}
	parent, err := s.valueAt(p[:last])
	if err != nil {
		return err
	}
	want := attr.KindM
	if p[last].kind == elementIndex {
		want = attr.KindL
	}
	if parent.Kind() != want {
		return invalid("The document path provided in the update expression is invalid for update")
	}
	return nil
}

// wrongOperand has a code of its own because callers that generate updates report it in other words.
func wrongOperand() error {
	return fault.New(fault.Invalid, CodeOperand, "An operand in the update expression has an incorrect data type")
}

func tooLarge() error { return invalid("Item size to update has exceeded the maximum allowed size") }

// rightSide evaluates the right side of a SET. It returns a value or an error, never the zero Value.
func (s *scope) rightSide(n *node) (attr.Value, error) {
	switch n.op {
	case opPlus, opMinus:
		return s.sum(n)
	case opListAppend:
		return s.append(n)
	case opIfNotExists:
		return s.ifNotExists(n)
	}
	v, err := s.value(n)
	if err == nil && v.IsZero() {
		err = invalid("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, err
}

// ifNotExists requires the second operand to exist even if the first one is used, as DynamoDB does.
func (s *scope) ifNotExists(n *node) (attr.Value, error) {
	v, err := s.value(&n.args[0])
	if err != nil {
		return v, err
	}
	instead, err := s.rightSide(&n.args[1])
	if v.IsZero() || err != nil {
		return instead, err
	}
	return v, nil
}

// both evaluates two operands, which must be of the given type.
func (s *scope) both(n *node, kind attr.Kind) (v [2]attr.Value, err error) {
	for i := range v {
		if v[i], err = s.rightSide(&n.args[i]); err != nil {
			return v, err
		}
		if v[i].Kind() != kind {
			return v, wrongOperand()
		}
	}
	return v, nil
}

func (s *scope) sum(n *node) (attr.Value, error) {
	v, err := s.both(n, attr.KindN)
	if err != nil {
		return attr.Value{}, err
	}
	if n.op == opMinus {
		return attr.Sub(v[0], v[1])
	}
	return attr.Add(v[0], v[1])
}

func (s *scope) append(n *node) (attr.Value, error) {
	v, err := s.both(n, attr.KindL)
	if err != nil {
		return attr.Value{}, err
	}
	size := len(v[0].List()) + len(v[1].List())
	if size > attr.MaxItemSize { // each element takes at least one byte
		return attr.Value{}, tooLarge()
	}
	if err := s.work.Spend(size * perMember); err != nil {
		return attr.Value{}, err
	}
	return attr.L(slices.Concat(v[0].List(), v[1].List())...), nil
}
