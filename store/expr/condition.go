package expr

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/touchline/touchline/store/attr"
)

// Condition is a condition or filter with its parameters. It may be used by several goroutines at once.
type Condition struct {
	root *node
	binding
}

// ParseCondition reads a ConditionExpression. Placeholders that are not defined are refused; parameters that the text
// does not use are not, because other expressions of the request may use them: Bind sees them all.
func ParseCondition(text string, params Params) (*Condition, error) {
	return parseCondition(formCondition, text, params)
}

// ParseFilter reads a FilterExpression: ParseCondition with the other name in its errors.
func ParseFilter(text string, params Params) (*Condition, error) {
	return parseCondition(formFilter, text, params)
}

func parseCondition(f form, text string, params Params) (*Condition, error) {
	if err := params.Check(); err != nil {
		return nil, err
	}
	b := binder{params: params}
	return b.condition(f, text)
}

func (b *binder) condition(f form, text string) (*Condition, error) {
	p, bound, err := b.bind(f, text)
	if err != nil {
		return nil, err
	}
	c := checker{p, bound}
	if err := c.check(&p.root); err != nil {
		return nil, f.refused(err)
	}
	return &Condition{root: &p.root, binding: bound}, nil
}

// Match tells whether the condition holds for an item; nil is the item that does not exist. The only errors are
// those of the document: a condition that has been accepted is true or false of every item.
func (c *Condition) Match(doc Doc) (bool, error) {
	if doc == nil {
		doc = Item(nil)
	}
	s := scope{doc: doc, binding: &c.binding}
	return s.truth(c.root)
}

// Attributes gives the names of the attributes that the condition looks at, in the order of the text; one may occur
// more than once.
func (c *Condition) Attributes() []string { return appendAttributes(nil, c.root, c.names) }

// Nested gives the names of the attributes that the condition looks into, by a name or an index behind them, in the order of
// the text; one may occur more than once.
func (c *Condition) Nested() []string {
	if c == nil {
		return nil
	}
	return appendNested(nil, c.root, c.names)
}

func appendNested(to []string, n *node, names []string) []string {
	if n.op == opPath && len(n.path) > 1 {
		to = append(to, n.path[0].step(names).name)
	}
	for i := range n.args {
		to = appendNested(to, &n.args[i], names)
	}
	return to
}

func appendAttributes(to []string, n *node, names []string) []string {
	if n.op == opPath {
		to = append(to, n.path[0].step(names).name)
	}
	for i := range n.args {
		to = appendAttributes(to, &n.args[i], names)
	}
	return to
}

// scope is what a condition or the right side of an update is evaluated in.
type scope struct {
	doc Doc
	*binding
	decoded []decoded
	members map[int]map[string]bool // of the sets that an update deletes, by their place in values: one may be in many actions
}

// truth evaluates what is true or false.
func (s *scope) truth(n *node) (bool, error) {
	switch n.op {
	case opAnd, opOr:
		left, err := s.truth(&n.args[0])
		if err != nil || left == (n.op == opOr) {
			return left, err
		}
		return s.truth(&n.args[1])
	case opNot:
		truth, err := s.truth(&n.args[0])
		return err == nil && !truth, err
	case opIn:
		return s.in(n)
	case opBetween:
		return s.between(n)
	}
	left, err := s.value(&n.args[0])
	if err != nil {
		return false, err
	}
	switch n.op {
	case opExists:
		return !left.IsZero(), nil
	case opNotExists:
		return left.IsZero(), nil
	}
	right, err := s.value(&n.args[1])
	if err != nil {
		return false, err
	}
	return compare(n.op, left, right), nil
}

// compare evaluates a comparator or a function of two values. The zero Value is a missing operand: nothing is true of
// it, except that it is not equal.
func compare(o op, left, right attr.Value) bool {
	missing := left.IsZero() || right.IsZero()
	if o == opNotEqual {
		return missing || !attr.Equal(left, right)
	}
	if missing {
		return false
	}
	switch o {
	case opEqual:
		return attr.Equal(left, right)
	case opType:
		return left.Kind().String() == right.Str()
	case opBeginsWith:
		return beginsWith(left, right)
	case opContains:
		return contains(left, right)
	}
	order, ok := attr.Compare(left, right)
	return ok && ordered(o, order)
}

// ordered tells whether the order of two values is what a comparator asks for.
func ordered(o op, order int) bool {
	switch o {
	case opLess:
		return order < 0
	case opLessEqual:
		return order <= 0
	case opGreater:
		return order > 0
	}
	return order >= 0
}

func (s *scope) in(n *node) (bool, error) {
	left, err := s.value(&n.args[0])
	if err != nil || left.IsZero() {
		return false, err
	}
	for i := range n.args[1:] {
		one, err := s.value(&n.args[1+i])
		if err != nil {
			return false, err
		}
		if attr.Equal(left, one) {
			return true, nil
		}
	}
	return false, nil
}

func (s *scope) between(n *node) (bool, error) {
	var v [3]attr.Value
	for i := range v {
		var err error
		if v[i], err = s.value(&n.args[i]); err != nil {
			return false, err
		}
	}
	return compare(opGreaterEqual, v[0], v[1]) && compare(opLessEqual, v[0], v[2]), nil
}

// at gives what lies at a path. A list, map or set is decoded once, however often a condition names it: one may take some
// milliseconds, and a condition has room for 150 of them.
func (s *scope) at(p path) (v attr.Value, err error) {
	name := p[0].step(s.names).name
	known := slices.IndexFunc(s.decoded, func(d decoded) bool { return d.name == name })
	if known >= 0 {
		v = s.decoded[known].value
	} else {
		var ok bool
		if v, ok, err = s.doc.Get(name); err != nil || !ok {
			return attr.Value{}, err
		}
		switch v.Kind() {
		case attr.KindL, attr.KindM, attr.KindSS, attr.KindNS, attr.KindBS:
			s.decoded = append(s.decoded, decoded{name, v})
		}
	}
	for _, e := range p[1:] {
		v = child(v, e.step(s.names))
	}
	return v, nil
}

// decoded is an attribute of the item that is evaluated.
type decoded struct {
	name  string
	value attr.Value
}

// value evaluates an operand; the zero Value means that there is none.
func (s *scope) value(n *node) (attr.Value, error) {
	switch n.op {
	case opValue:
		return s.values[n.value], nil
	case opPath:
		return s.at(n.path)
	}
	v, err := s.value(&n.args[0]) // size
	if err != nil {
		return attr.Value{}, err
	}
	if size, ok := sizeOf(v); ok {
		return attr.Int(int64(size)), nil
	}
	return attr.Value{}, nil
}

// sizeOf is the function size. A string is as long as its UTF-16 form, as in the language DynamoDB is written in.
func sizeOf(v attr.Value) (int, bool) {
	switch v.Kind() {
	case attr.KindS:
		units := 0
		for _, r := range v.Str() {
			units += utf16.RuneLen(r)
		}
		return units, true
	case attr.KindB:
		return len(v.Bytes()), true
	case attr.KindL:
		return len(v.List()), true
	case attr.KindM:
		return len(v.Map()), true
	case attr.KindSS, attr.KindNS:
		return len(v.Strs()), true
	case attr.KindBS:
		return len(v.ByteSets()), true
	}
	return 0, false
}

func beginsWith(v, prefix attr.Value) bool {
	switch {
	case v.Kind() != prefix.Kind():
		return false
	case v.Kind() == attr.KindS:
		return strings.HasPrefix(v.Str(), prefix.Str())
	}
	return v.Kind() == attr.KindB && bytes.HasPrefix(v.Bytes(), prefix.Bytes())
}

// contains tells whether a string has a piece, a set a member or a list an element.
func contains(v, part attr.Value) bool {
	switch {
	case v.Kind() == attr.KindL:
		return slices.ContainsFunc(v.List(), func(e attr.Value) bool { return attr.Equal(e, part) })
	case v.Kind() == attr.KindS && part.Kind() == attr.KindS:
		return strings.Contains(v.Str(), part.Str())
	case v.Kind() == attr.KindB && part.Kind() == attr.KindB:
		return bytes.Contains(v.Bytes(), part.Bytes())
	case v.Kind() == attr.KindSS && part.Kind() == attr.KindS, v.Kind() == attr.KindNS && part.Kind() == attr.KindN:
		return slices.Contains(v.Strs(), part.Str())
	case v.Kind() == attr.KindBS && part.Kind() == attr.KindB:
		piece := part.Bytes()
		return slices.ContainsFunc(v.ByteSets(), func(member []byte) bool { return bytes.Equal(member, piece) })
	}
	return false
}
