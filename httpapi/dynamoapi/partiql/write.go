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
func (s *Statement) Put(params []attr.Value, key Key) (Put, error) {
	if err := s.match(params); err != nil {
		return Put{}, err
	}
	it := make(attr.Item, len(s.item.args))
	for i, arg := range s.item.args {
		name, err := s.item.key(i, it, s.item.keys[i].at)
		if err != nil {
			return Put{}, err
		}
		if name == "" {
			return Put{}, invalid("Path component cannot be an empty string")
		}
		if it[name], err = arg.constant(params); err != nil {
			return Put{}, err
		}
	}
	b := newBuilder(params)
	return Put{Item: it, Condition: "attribute_not_exists(" + b.name(key.Partition.Name) + ")", Params: b.shared(), BadKey: key.missing(it)}, nil
}

// missing is the error of an item without a key, nil if it has one.
func (k Key) missing(it attr.Item) error {
	for _, a := range k.all() {
		v, ok := it[a.Name]
		if !ok {
			return invalid("Key attribute should be present in the item: Key %s", a.Name)
		}
		if err := a.fits(v); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses a value that cannot be the key attribute's.
func (a Attr) fits(v attr.Value) error {
	if v.Kind() != a.Kind {
		return invalid("Key attribute's data type should match its data type in table's schema: Key %s", a.Name)
	}
	return nil
}

// Update compiles an UPDATE. It does nothing but to an item that exists.
func (s *Statement) Update(params []attr.Value, key Key) (Change, error) {
	return s.change(params, key, func(b *builder, exists, rest string) (string, string, error) {
		update, err := s.update(b)
		return update, joined(exists, rest), err
	})
}

// Delete compiles a DELETE. An item that is not there is no failure, whatever the condition.
func (s *Statement) Delete(params []attr.Value, key Key) (Change, error) {
	return s.change(params, key, func(b *builder, _, rest string) (string, string, error) {
		if rest == "" {
			return "", "", nil
		}
		return "", "attribute_not_exists(" + b.name(key.Partition.Name) + ") OR " + rest, nil
	})
}

// Check compiles an EXISTS, which wants an item and more of it than its key.
func (s *Statement) Check(params []attr.Value, key Key) (Change, error) {
	if s.Index != "" {
		return Change{}, invalid("Operations on indices are not supported in transactions")
	}
	if err := s.match(params); err != nil {
		return Change{}, err
	}
	if k, rest, _, err := s.target(params, key); err != nil || len(k) < len(key.all()) || len(rest) == 0 {
		return Change{}, invalid("EXISTS() must contain a single item read with additional condition")
	}
	return s.change(params, key, func(_ *builder, exists, rest string) (string, string, error) {
		return "", joined(exists, rest), nil
	})
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
	write func(b *builder, exists, rest string) (update, condition string, err error),
) (Change, error) {
	if err := s.match(params); err != nil {
		return Change{}, err
	}
	k, rest, twice, err := s.target(params, key)
	if err != nil {
		return Change{}, err
	}
	c := Change{Key: k, BadKey: key.missing(k)}
	switch {
	case len(k) < len(key.all()):
		c.BadKey = invalid("Where clause does not contain a mandatory equality on all key attributes")
	case twice != "" && s.Kind != Exists:
		c.BadKey = invalid("Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported", twice)
		c.Key = attr.Item{}
	}
	b := newBuilder(params)
	text, err := b.all(rest)
	if err != nil {
		return Change{}, err
	}
	if len(rest) == 1 && rest[0].kind == nodeOr {
		text = "(" + text + ")"
	}
	exists := ""
	if s.Kind != Delete {
		exists = "attribute_exists(" + b.name(key.Partition.Name) + ")"
	}
	c.Update, c.Condition, err = write(b, exists, text)
	c.Params = b.shared()
	return c, err
}

// target takes the key of one item, or what there is of it, out of WHERE. The rest is the other conditions, also one that gives a
// key attribute a second value: the name of that is twice. Whether the values are of the key's types is not looked at.
func (s *Statement) target(params []attr.Value, key Key) (k attr.Item, rest []*node, twice string, err error) {
	k = attr.Item{}
	for _, c := range s.where.conjuncts() {
		a, v, ok, err := c.equality(params, key)
		switch {
		case err != nil:
			return nil, nil, "", err
		case !ok:
			rest = append(rest, c)
		case k[a.Name].IsZero():
			k[a.Name] = v
		case !attr.Equal(k[a.Name], v):
			rest, twice = append(rest, c), a.Name
		}
	}
	return k, rest, twice, nil
}

// equality reports whether the node is a key attribute = a constant, on either side.
func (n *node) equality(params []attr.Value, key Key) (a Attr, v attr.Value, ok bool, err error) {
	if n.kind != nodeCompare || n.name != "=" {
		return a, v, false, nil
	}
	left, right := n.args[0], n.args[1]
	if left.isConstant() {
		left, right = right, left
	}
	i := slices.IndexFunc(key.all(), func(a Attr) bool { return a.Name == left.attribute() })
	if i < 0 || left.kind != nodePath || !right.isConstant() {
		return a, v, false, nil
	}
	v, err = right.constant(params)
	return key.all()[i], v, err == nil, err
}

// update writes an UpdateExpression: SET, REMOVE, and for sets ADD and DELETE.
func (s *Statement) update(b *builder) (string, error) {
	var set, remove, add, drop []string
	for _, a := range s.sets {
		path := b.path(a.path.steps)
		if a.value.kind == nodeCall && (a.value.name == "set_add" || a.value.name == "set_delete") {
			members, err := a.setOperation(b)
			if err != nil {
				return "", err
			}
			if a.value.name == "set_add" {
				add = append(add, path+" "+members)
			} else {
				drop = append(drop, path+" "+members)
			}
			continue
		}
		value, err := b.assigned(a.value)
		if err != nil {
			return "", err
		}
		set = append(set, path+" = "+value)
	}
	for _, r := range s.removes {
		remove = append(remove, b.path(r.steps))
	}
	var clauses []string
	for _, c := range []struct {
		word  string
		parts []string
	}{{"SET ", set}, {"REMOVE ", remove}, {"ADD ", add}, {"DELETE ", drop}} {
		if len(c.parts) > 0 {
			clauses = append(clauses, c.word+strings.Join(c.parts, ", "))
		}
	}
	return strings.Join(clauses, " "), nil
}

// setOperation returns the members of a set_add or set_delete.
func (a assignment) setOperation(b *builder) (string, error) {
	name := strings.ToUpper(a.value.name)
	args := a.value.args
	switch {
	case len(args) != 2:
		return "", invalidAt(a.value.at, "%s must have exactly two arguments", name)
	case args[0].kind != nodePath || !slices.Equal(args[0].steps, a.path.steps):
		return "", invalidAt(a.value.at, "The first argument to %s must equal the assignment value", name)
	}
	if args[1].isConstant() {
		v, err := args[1].constant(b.params)
		if err != nil {
			return "", err
		}
		switch v.Kind() {
		case attr.KindSS, attr.KindNS, attr.KindBS:
			return b.value(v), nil
		}
	}
	return "", invalidAt(args[0].at, "The second argument to %s must be a value with type SET", name)
}
