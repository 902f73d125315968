package expr

import (
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// result gives the value that an action leaves at its path; the zero Value is none.
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
	old, err := a.path.lookup(s.doc, s.names)
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
	case a.kind == actionAdd:
		return union(old, operand)
	}
	return s.difference(old, a.value.value)
}

// reach refuses a path whose last step has no map or list to be taken in.
func (s *scope) reach(p path) error {
	last := len(p) - 1
	if last == 0 {
		return nil
	}
	parent, err := p[:last].lookup(s.doc, s.names)
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

// wrongOperand has a code of its own: who makes updates out of something else has other words for it.
func wrongOperand() error {
	return fault.New(fault.Invalid, CodeOperand, "An operand in the update expression has an incorrect data type")
}

func tooLarge() error { return invalid("Item size to update has exceeded the maximum allowed size") }

// rightSide evaluates the right side of a SET. There is always a value or an error.
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

// ifNotExists needs its second operand to be there even when the first one is used, as DynamoDB does.
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

// both evaluates two operands, which must be of a kind.
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
	joined := slices.Concat(v[0].List(), v[1].List())
	if len(joined) > attr.MaxItemSize { // each is a byte at least
		return attr.Value{}, tooLarge()
	}
	return attr.L(joined...), nil
}

// union joins two sets of one type.
func union(a, b attr.Value) (attr.Value, error) {
	members := without(setOf(b), membersOf(setOf(a)))
	if len(members) == 0 {
		return a, nil
	}
	return makeSet(a.Kind(), append(members, setOf(a)...))
}

// difference takes the members of an operand out of a set; the zero Value when none is left, for there are no empty sets.
func (s *scope) difference(from attr.Value, operand int) (attr.Value, error) {
	gone, known := s.members[operand]
	if !known {
		gone = membersOf(setOf(s.values[operand]))
		if s.members == nil {
			s.members = map[int]map[string]bool{}
		}
		s.members[operand] = gone
	}
	members := without(setOf(from), gone)
	if len(members) == 0 {
		return attr.Value{}, nil
	}
	return makeSet(from.Kind(), members)
}

func membersOf(members []string) map[string]bool {
	in := make(map[string]bool, len(members))
	for _, member := range members {
		in[member] = true
	}
	return in
}

// without gives the members of a that are not gone, in a new slice.
func without(a []string, gone map[string]bool) []string {
	var left []string
	for _, member := range a {
		if !gone[member] {
			left = append(left, member)
		}
	}
	return left
}

// setOf gives the members of a set of any type: equal members are equal texts. They are not to be written to.
func setOf(v attr.Value) []string {
	if v.Kind() != attr.KindBS {
		return v.Strs()
	}
	members := make([]string, 0, len(v.ByteSets()))
	for _, member := range v.ByteSets() {
		members = append(members, string(member))
	}
	return members
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
