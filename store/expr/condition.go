package expr

import (
	"strings"
	"unicode/utf16"

	"github.com/touchline/touchline/store/attr"
)

// Condition is a condition or filter with its parameters. It may be used by several goroutines at once.
type Condition struct {
	root *node
	binding
}

// ParseFilter parses a FilterExpression. It refuses undefined placeholders but not unused parameters, because other expressions of the
// request may use them: only Bind sees them all.
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
		return nil, f.wrapError(err)
	}
	return &Condition{root: &p.root, binding: bound}, nil
}

// Match reports whether the condition holds for an item; a nil doc means that the item does not exist. The only errors are those of
// reading the document: an accepted condition is true or false for every item.
func (c *Condition) Match(doc Doc) (bool, error) { return c.MatchWithin(doc, nil) }

// MatchWithin is Match with a budget; nil: no limit. It also fails when the budget is spent.
func (c *Condition) MatchWithin(doc Doc, work *Work) (bool, error) {
	if doc == nil {
		doc = Item(nil)
	}
	s := scope{doc: doc, binding: &c.binding, work: work}
	return s.truth(c.root)
}

// Attributes returns the names of the attributes that the condition uses, in the order of the text. Names may repeat: "a = :x OR a.b =
// :y" returns a, a.
func (c *Condition) Attributes() []string { return appendAttributes(nil, c.root, c.names) }

// NestedNames returns the names of the attributes of which the condition uses a nested part, in the order of the text. Names may repeat: "a =
// :x OR b.c = :y OR b[0] = :z" returns b, b.
func (c *Condition) NestedNames() []string {
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

// scope is the context in which a condition or the right side of a SET is evaluated.
type scope struct {
	doc Doc
	*binding
	work    *Work // nil: no limit
	decoded []decoded
}

// truth evaluates a node with a truth value. AND and OR evaluate their right side only if the left one does not decide.
func (s *scope) truth(n *node) (bool, error) {
	if err := s.work.Spend(perNode); err != nil {
		return false, err
	}
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
		return s.evalIn(n)
	case opBetween:
		return s.evalBetween(n)
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
	return s.compare(n.op, left, right)
}

// compare evaluates a comparator or a function of two values. The zero Value is a missing operand: every comparison with it is false,
// except <>, which is true.
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
	}
	order, ok := attr.Compare(left, right)
	return ok && isInOrder(o, order)
}

// isInOrder reports whether the order of two values satisfies a comparator.
func isInOrder(o op, order int) bool {
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

func (s *scope) evalIn(n *node) (bool, error) {
	left, err := s.value(&n.args[0])
	if err != nil || left.IsZero() {
		return false, err
	}
	for i := range n.args[1:] {
		candidate, err := s.value(&n.args[1+i])
		if err != nil {
			return false, err
		}
		if equal, err := s.compare(opEqual, left, candidate); equal || err != nil {
			return equal, err
		}
	}
	return false, nil
}

func (s *scope) evalBetween(n *node) (bool, error) {
	var v [3]attr.Value
	for i := range v {
		var err error
		if v[i], err = s.value(&n.args[i]); err != nil {
			return false, err
		}
	}
	above, err := s.compare(opGreaterEqual, v[0], v[1])
	if err != nil || !above {
		return false, err
	}
	return s.compare(opLessEqual, v[0], v[2])
}

// valueAt returns the value at a path, or the zero Value if there is none.
func (s *scope) valueAt(p path) (v attr.Value, err error) {
	if v, err = s.attribute(p[0]); err != nil {
		return attr.Value{}, err
	}
	for _, e := range p[1:] {
		v = child(v, e.step(s.names))
	}
	return v, nil
}

// attribute returns an attribute of the document. In a large item it is decoded only once, however often the expression names it in the
// same way: decoding may take some milliseconds, and a condition can name an attribute hundreds of times.
func (s *scope) attribute(e element) (attr.Value, error) {
	for i := range s.decoded {
		if s.decoded[i].element == e {
			return s.decoded[i].value, nil
		}
	}
	name := e.step(s.names).name
	var v attr.Value
	var err error
	switch doc := s.doc.(type) {
	case attr.Encoded:
		if s.work != nil {
			if err := s.work.Spend(doc.Len() * perName); err != nil {
				return attr.Value{}, err
			}
		}
		if v, _, err = doc.Get(name); err != nil || len(doc) <= maxSmall {
			return v, err
		}
	case Item:
		return doc[name], nil
	default:
		if v, _, err = s.doc.Get(name); err != nil {
			return v, err
		}
	}
	s.decoded = append(s.decoded, decoded{e, v})
	return v, s.work.spendOn(v, decoding)
}

// maxSmall is the size of an encoded item, in bytes, up to which decoding an attribute again is cheap.
const maxSmall = 1 << 10

// decoded is a decoded attribute, by its name in the expression. A missing one has the zero Value.
type decoded struct {
	element
	value attr.Value
}

// value evaluates an operand; the zero Value means that it is missing.
func (s *scope) value(n *node) (attr.Value, error) {
	switch n.op {
	case opValue:
		return s.values[n.value], nil
	case opPath:
		return s.valueAt(n.path)
	}
	v, err := s.value(&n.args[0]) // size
	if err != nil {
		return attr.Value{}, err
	}
	if err := s.work.Spend(2 * len(v.Text())); err != nil {
		return attr.Value{}, err
	}
	if size, ok := sizeOf(v); ok {
		return attr.Int(int64(size)), nil
	}
	return attr.Value{}, nil
}

// sizeOf is the function size. For a string it counts UTF-16 units, as in DynamoDB's implementation language: most emoji count 2.
func sizeOf(v attr.Value) (int, bool) {
	switch v.Kind() {
	case attr.KindS:
		units := 0
		for _, r := range v.Str() {
			units += utf16.RuneLen(r)
		}
		return units, true
	case attr.KindB:
		return len(v.Text()), true
	case attr.KindL:
		return len(v.List()), true
	case attr.KindM:
		return len(v.Map()), true
	case attr.KindSS, attr.KindNS, attr.KindBS:
		return len(v.Members()), true
	}
	return 0, false
}

func beginsWith(v, prefix attr.Value) bool {
	return v.Kind() == prefix.Kind() && (v.Kind() == attr.KindS || v.Kind() == attr.KindB) && strings.HasPrefix(v.Text(), prefix.Text())
}
