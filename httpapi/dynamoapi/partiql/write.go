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

// Key is the key of a table or an index. Sort has no name where there is none.
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

// Put is an item to put if Condition, that there is none yet, holds.
type Put struct {
	Item      attr.Item
	Condition string
	expr.Params
	BadKey error // what is wrong with the key, which a transaction finds out for itself
}

// Change is what an UPDATE, a DELETE and a check do to one item. Update is empty for the last two.
type Change struct {
	Key       attr.Item
	Update    string
	Condition string
	expr.Params
	BadKey error // as of a Put; then Key is what there is of it
}

// Put compiles an INSERT.
func (s *Statement) Put(params []attr.Value, key Key) (_ Put, err error) {
	defer caught(&err)
	s.match(params)
	it := make(attr.Item, len(s.item.args))
	for i, arg := range s.item.args {
		name := s.item.key(i, it, s.item.keys[i].at)
		if name == "" {
			panic(invalid("Path component cannot be an empty string"))
		}
		it[name] = arg.constant(params)
	}
	b := newBuilder(params)
	return Put{Item: it, Condition: "attribute_not_exists(" + b.name(key.Partition.Name) + ")", Params: b.shared(), BadKey: key.missing(it)}, nil
}

// missing is the error of an item without a key, nil if it has one.
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

// mustFit refuses a value that cannot be the key attribute's.
func (a Attr) mustFit(v attr.Value) {
	if v.Kind() != a.Kind {
		panic(invalid("Key attribute's data type should match its data type in table's schema: Key %s", a.Name))
	}
}

// Update compiles an UPDATE. It does nothing but to an item that exists.
func (s *Statement) Update(params []attr.Value, key Key) (Change, error) {
	return s.change(params, key, func(b *builder, exists, rest string) (string, string) {
		return s.update(b), joined(exists, rest)
	})
}

// Delete compiles a DELETE. An item that is not there is no failure, whatever the condition.
func (s *Statement) Delete(params []attr.Value, key Key) (Change, error) {
	return s.change(params, key, func(b *builder, _, rest string) (string, string) {
		if rest == "" {
			return "", ""
		}
		return "", "attribute_not_exists(" + b.name(key.Partition.Name) + ") OR " + rest
	})
}

// Check compiles an EXISTS, which wants an item and more of it than its key.
func (s *Statement) Check(params []attr.Value, key Key) (_ Change, err error) {
	defer caught(&err)
	if s.Index != "" {
		panic(invalid("Operations on indices are not supported in transactions"))
	}
	s.match(params)
	if !s.beyondKey(params, key) {
		panic(invalid("EXISTS() must contain a single item read with additional condition"))
	}
	return s.change(params, key, func(_ *builder, exists, rest string) (string, string) { return "", joined(exists, rest) })
}

// beyondKey reports whether WHERE has the whole key of an item, and more. A key that cannot be one is none.
func (s *Statement) beyondKey(params []attr.Value, key Key) bool {
	defer caught(new(error))
	k, rest, _ := s.target(params, key)
	return len(k) == len(key.all()) && len(rest) > 0
}

// joined is two conditions of which both must hold; the second may be empty.
func joined(exists, rest string) string {
	if rest == "" {
		return exists
	}
	return exists + " AND " + rest
}

// change finds the key and returns the rest of the condition to write, which gives update and condition. The rest is such
// as may stand beside an AND and, if it is needed, an OR.
func (s *Statement) change(params []attr.Value, key Key,
	write func(b *builder, exists, rest string) (update, condition string),
) (_ Change, err error) {
	defer caught(&err)
	s.match(params)
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
	exists := ""
	if s.Kind != Delete {
		exists = "attribute_exists(" + b.name(key.Partition.Name) + ")"
	}
	c.Update, c.Condition = write(b, exists, text)
	c.Params = b.shared()
	return c, nil
}

// target takes the key of one item, or what there is of it, out of WHERE. The rest is the other conditions, also one that gives a
// key attribute a second value: the name of that is twice. Whether the values are of the key's types is not looked at.
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

// equality returns the key attribute and the constant that the node holds equal, on either side; no name: it does not.
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
			add("SET ", path+" = "+b.assigned(a.value))
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
