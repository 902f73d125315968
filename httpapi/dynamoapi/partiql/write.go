package partiql

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Attr is a key attribute: its name and type.
type Attr struct {
	Name string
	Kind attr.Kind
}

// Key is the key of a table or index. Without a sort key, Sort.Name is empty.
type Key struct {
	Partition, Sort Attr
}

// all returns the attributes of the key.
func (k Key) all() []Attr {
	if k.Sort.Name == "" {
		return []Attr{k.Partition}
	}
	return []Attr{k.Partition, k.Sort}
}

func (k Key) has(name string) bool {
	return name == k.Partition.Name || k.Sort.Name != "" && name == k.Sort.Name
}

// Change is the effect of an INSERT, UPDATE, DELETE or EXISTS on one item.
type Change struct {
	Item      attr.Item // for an INSERT
	Key       attr.Item // for the others
	Update    string    // for an UPDATE
	Condition string
	expr.Params
	BadKey error // error of the key, whose valid part is in Key; in a transaction the store reports it, as a reason of the cancellation
}

// Write compiles an INSERT, UPDATE, DELETE or EXISTS. Its condition applies to the item before the change:
//
//	INSERT   it does not exist
//	UPDATE   it exists, and the rest of WHERE holds
//	DELETE   the rest of WHERE holds, or it does not exist: deleting a missing item succeeds
//	EXISTS   as UPDATE; WHERE must contain more than the key
func (s *Statement) Write(params []attr.Value, key Key) (_ Change, err error) {
	defer caught(&err)
	if s.Kind == Exists && s.Index != "" {
		panic(invalid("Operations on indices are not supported in transactions"))
	}
	s.match(params)
	switch {
	case s.Kind == Insert:
		return s.insert(params, key), nil
	case s.Kind == Exists && !s.beyondKey(params, key):
		panic(invalid("EXISTS() must contain a single item read with additional condition"))
	}
	return s.change(params, key), nil
}

func (s *Statement) insert(params []attr.Value, key Key) Change {
	it := make(attr.Item, len(s.item.args))
	for i, arg := range s.item.args {
		name := s.item.key(i, it, s.item.keys[i].at)
		if name == "" {
			panic(invalid("Path component cannot be an empty string"))
		}
		it[name] = arg.constant(params)
	}
	b := newBuilder(params)
	condition := "attribute_not_exists(" + b.name(key.Partition.Name) + ")"
	return Change{Item: it, Condition: condition, Params: b.exprParams(), BadKey: key.missing(it)}
}

func (s *Statement) change(params []attr.Value, key Key) Change {
	k, rest, twice := s.target(params, key)
	c := Change{Key: k, BadKey: key.missing(k)}
	switch {
	case len(k) < len(key.all()):
		c.BadKey = invalid("Where clause does not contain a mandatory equality on all key attributes").err
	case twice != "" && s.Kind != Exists:
		c.BadKey = invalid("Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported", twice).err
		c.Key = attr.Item{}
	}
	b := newBuilder(params)
	text := b.all(rest)
	if len(rest) == 1 && rest[0].kind == nodeOr {
		text = "(" + text + ")"
	}
	switch {
	case s.Kind != Delete:
		c.Condition = "attribute_exists(" + b.name(key.Partition.Name) + ")"
		if text != "" {
			c.Condition += " AND " + text
		}
	case text != "":
		c.Condition = "attribute_not_exists(" + b.name(key.Partition.Name) + ") OR " + text
	}
	if s.Kind == Update {
		c.Update = s.update(b)
	}
	c.Params = b.exprParams()
	return c
}

// missing returns the error of an item without a complete key; nil: it has one.
func (k Key) missing(it attr.Item) (err error) {
	defer caught(&err)
	for _, a := range k.all() {
		v, ok := it[a.Name]
		if !ok {
			panic(invalid("Key attribute should be present in the item: Key %s", a.Name))
		}
		a.mustFit(v)
	}
	return nil
}

// mustFit refuses a value that does not fit the key attribute.
func (a Attr) mustFit(v attr.Value) {
	if v.Kind() != a.Kind {
		panic(invalid("Key attribute's data type should match its data type in table's schema: Key %s", a.Name))
	}
}

// beyondKey reports whether WHERE contains the complete, valid key of an item, and more.
func (s *Statement) beyondKey(params []attr.Value, key Key) bool {
	defer caught(new(error))
	k, rest, _ := s.target(params, key)
	return len(k) == len(key.all()) && len(rest) > 0
}

// target splits WHERE into the key of one item, as far as given, and the other conditions. A condition that gives a key attribute a
// second value is among the others, and twice is its attribute. Types are not checked.
func (s *Statement) target(params []attr.Value, key Key) (k attr.Item, rest []*node, twice string) {
	k = attr.Item{}
	for _, c := range s.where.conjuncts() {
		a, v := c.equality(params, key)
		switch {
		case a == "":
			rest = append(rest, c)
		case k[a].IsZero():
			k[a] = v
		case !attr.Equal(k[a], v):
			rest, twice = append(rest, c), a
		}
	}
	return k, rest, twice
}

// equality returns the key attribute and constant that the node compares for equality, on either side; an empty name: it does not.
func (n *node) equality(params []attr.Value, key Key) (name string, v attr.Value) {
	if n.kind != nodeCompare || n.name != "=" {
		return "", v
	}
	left, right := n.args[0], n.args[1]
	if left.isConstant() {
		left, right = right, left
	}
	if name = left.attribute(); !key.has(name) || !right.isConstant() {
		return "", v
	}
	return name, right.constant(params)
}

// update writes an UpdateExpression: SET, REMOVE, and for sets ADD and DELETE.
func (s *Statement) update(b *builder) string {
	parts := map[string][]string{}
	add := func(clause, part string) { parts[clause] = append(parts[clause], part) }
	for _, a := range s.sets {
		path := b.path(a.path.steps)
		switch {
		case a.value.kind == nodeCall && a.value.name == "set_add":
			add("ADD ", path+" "+a.setOperation(b))
		case a.value.kind == nodeCall && a.value.name == "set_delete":
			add("DELETE ", path+" "+a.setOperation(b))
		default:
			add("SET ", path+" = "+b.writeAssignment(a.value))
		}
	}
	for _, r := range s.removes {
		add("REMOVE ", b.path(r.steps))
	}
	var clauses []string
	for _, clause := range []string{"SET ", "REMOVE ", "ADD ", "DELETE "} {
		if len(parts[clause]) > 0 {
			clauses = append(clauses, clause+strings.Join(parts[clause], ", "))
		}
	}
	return strings.Join(clauses, " ")
}

// setOperation returns the members of a set_add or set_delete.
func (a assignment) setOperation(b *builder) string {
	name, args := strings.ToUpper(a.value.name), a.value.args
	switch {
	case len(args) != 2:
		panic(invalidAt(a.value.at, "%s must have exactly two arguments", name))
	case args[0].kind != nodePath || !slices.Equal(args[0].steps, a.path.steps):
		panic(invalidAt(a.value.at, "The first argument to %s must equal the assignment value", name))
	}
	if args[1].isConstant() {
		v := args[1].constant(b.params)
		switch v.Kind() {
		case attr.KindSS, attr.KindNS, attr.KindBS:
			return b.value(v)
		}
	}
	panic(invalidAt(args[0].at, "The second argument to %s must be a value with type SET", name))
}
