package expr

import "github.com/touchline/touchline/store/attr"

// SortOp is how a key condition limits the sort key.
type SortOp uint8

// The limits of the sort key that a query can have.
const (
	SortAny          SortOp = iota
	SortEqual               // = Low
	SortLess                // < Low
	SortLessEqual           // <= Low
	SortGreater             // > Low
	SortGreaterEqual        // >= Low
	SortBetween             // Low to High, both included
	SortBeginsWith          // begins with Low
)

// KeyRange is a key condition: one partition and a range of its sort keys. Low and High are absent where Op has no use
// for them.
type KeyRange struct {
	Partition attr.Value
	Op        SortOp
	Low, High attr.Value
}

// Contains tells whether a sort key is in the range.
func (r KeyRange) Contains(sort attr.Value) bool {
	switch r.Op {
	case SortEqual:
		return compare(opEqual, sort, r.Low)
	case SortLess:
		return compare(opLess, sort, r.Low)
	case SortLessEqual:
		return compare(opLessEqual, sort, r.Low)
	case SortGreater:
		return compare(opGreater, sort, r.Low)
	case SortGreaterEqual:
		return compare(opGreaterEqual, sort, r.Low)
	case SortBetween:
		return compare(opGreaterEqual, sort, r.Low) && compare(opLessEqual, sort, r.High)
	case SortBeginsWith:
		return compare(opBeginsWith, sort, r.Low)
	}
	return true
}

// KeyAttr is a key attribute and its type.
type KeyAttr struct {
	Name string
	Kind attr.Kind
}

// Check refuses values that are not of the key's types, and empty ones. sort is zero for a key without one.
func (r KeyRange) Check(partition, sort KeyAttr) error {
	for _, part := range []struct {
		value attr.Value
		key   KeyAttr
	}{{r.Partition, partition}, {r.Low, sort}, {r.High, sort}} {
		switch v := part.value; {
		case v.IsZero():
		case v.Kind() != part.key.Kind:
			return errKeyType()
		case v.Kind() == attr.KindN:
		case attr.SizeOf(v) == 0:
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
				"contain an empty %s value. Key: %s", emptyName(v.Kind()), part.key.Name)
		}
	}
	return nil
}

func errKeyType() error {
	return invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
}

func emptyName(k attr.Kind) string {
	if k == attr.KindB {
		return "binary"
	}
	return "string"
}

// ParseKeyCondition reads a KeyConditionExpression for a key; sort is empty for a key without one. About unused
// parameters see ParseCondition. The types of the values are not looked at: see KeyRange.Check.
func ParseKeyCondition(text string, params Params, partition, sort string) (KeyRange, error) {
	if err := params.Check(); err != nil {
		return KeyRange{}, err
	}
	b := binder{params: params}
	c, err := b.condition(formKey, text)
	if err != nil {
		return KeyRange{}, err
	}
	return c.keyRange(KeyAttr{Name: partition}, sort)
}

// CheckKeyCondition refuses a text that is no condition at all, of whatever key.
func CheckKeyCondition(text string, params Params) error {
	b := binder{params: params}
	_, err := b.condition(formKey, text)
	return err
}

// keyRange reads a condition as a key condition.
func (c *Condition) keyRange(partition KeyAttr, sort string) (KeyRange, error) {
	k := keyReader{binding: c.binding, partition: partition.Name, kind: partition.Kind, sort: sort}
	if err := k.read(c.root); err != nil {
		return KeyRange{}, err
	}
	return k.keyRange()
}

// keyReader collects the conditions of a key condition.
type keyReader struct {
	binding
	partition, sort string
	kind            attr.Kind // of the partition key; 0: any
	found           []keyTerm
}

// keyTerm is a condition on one attribute.
type keyTerm struct {
	name   string
	op     op
	values []attr.Value
}

// read goes through the conditions, which AND joins.
func (k *keyReader) read(n *node) error {
	switch n.op {
	case opAnd:
		if err := k.read(&n.args[0]); err != nil {
			return err
		}
		return k.read(&n.args[1])
	case opEqual, opLess, opLessEqual, opGreater, opGreaterEqual, opBetween, opBeginsWith:
		return k.readTerm(n)
	}
	return invalid("Invalid operator used in KeyConditionExpression: %s", n.op)
}

func (k *keyReader) readTerm(n *node) error {
	at := -1 // the operand that is the attribute
	term := keyTerm{op: n.op}
	for i := range n.args {
		switch arg := &n.args[i]; {
		case i == 0 && arg.op == opValue && (n.op == opBetween || n.op == opBeginsWith):
			return invalid("Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first "+
				"operand", n.op)
		case arg.op == opValue:
			term.values = append(term.values, k.values[arg.value])
		case arg.op != opPath:
			return invalid("KeyConditionExpressions cannot contain nested operations")
		case at >= 0:
			return invalid("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")
		case len(arg.path) > 1:
			return invalid("KeyConditionExpressions cannot have conditions on nested attributes")
		default:
			at = i
			term.name = arg.path[0].step(k.names).name
		}
	}
	switch {
	case at < 0:
		return invalid("Invalid condition in KeyConditionExpression: No key attribute specified")
	case at > 0:
		term.op = turned(n.op)
	}
	for i := range k.found {
		if k.found[i].name == term.name {
			return invalid("KeyConditionExpressions must only contain one condition per key")
		}
	}
	k.found = append(k.found, term)
	return nil
}

// turned is the comparator with its sides exchanged.
func turned(o op) op {
	switch o {
	case opLess:
		return opGreater
	case opLessEqual:
		return opGreaterEqual
	case opGreater:
		return opLess
	case opGreaterEqual:
		return opLessEqual
	}
	return o
}

// keyRange makes a range of what was found.
func (k *keyReader) keyRange() (KeyRange, error) {
	if len(k.found) > 2 {
		return KeyRange{}, invalid("Conditions can be of length 1 or 2 only")
	}
	if len(k.found) > 1 && k.sort == "" {
		return KeyRange{}, invalid("Query key condition not supported")
	}
	var r KeyRange
	hash, ok := k.term(k.partition)
	switch {
	case !ok:
		return KeyRange{}, invalid("Query condition missed key schema element: %s", k.partition)
	case k.kind != 0 && hash.values[0].Kind() != k.kind:
		return KeyRange{}, errKeyType()
	case hash.op != opEqual:
		return KeyRange{}, invalid("Query key condition not supported")
	}
	r.Partition = hash.values[0]
	if len(k.found) == 1 {
		return r, nil
	}
	limit, ok := k.term(k.sort)
	if !ok {
		return KeyRange{}, invalid("Query condition missed key schema element: %s", k.sort)
	}
	r.Op, r.Low = sortOp(limit.op), limit.values[0]
	if limit.op == opBetween {
		r.High = limit.values[1]
	}
	return r, nil
}

func (k *keyReader) term(name string) (keyTerm, bool) {
	for _, t := range k.found {
		if t.name == name && name != "" {
			return t, true
		}
	}
	return keyTerm{}, false
}

func sortOp(o op) SortOp {
	switch o {
	case opEqual:
		return SortEqual
	case opLess:
		return SortLess
	case opLessEqual:
		return SortLessEqual
	case opGreater:
		return SortGreater
	case opGreaterEqual:
		return SortGreaterEqual
	case opBetween:
		return SortBetween
	}
	return SortBeginsWith
}
