package expr

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// SortOp is the operator of a condition on the sort key.
type SortOp uint8

// The conditions on the sort key that a query can have.
const (
	SortAny          SortOp = iota
	SortEqual               // = Low
	SortLess                // < Low
	SortLessEqual           // <= Low
	SortGreater             // > Low
	SortGreaterEqual        // >= Low
	SortBetween             // Low to High, both inclusive
	SortBeginsWith          // begins with Low
)

// sortOps maps each SortOp to its operator. SortAny has none.
var sortOps = [...]op{
	SortEqual:        opEqual,
	SortLess:         opLess,
	SortLessEqual:    opLessEqual,
	SortGreater:      opGreater,
	SortGreaterEqual: opGreaterEqual,
	SortBetween:      opBetween,
	SortBeginsWith:   opBeginsWith,
}

// KeyRange is a key condition: one partition and a range of its sort keys. Low and High are zero if Op does not use them. For example,
// "pk = :p AND sk BETWEEN :a AND :b" has Partition [:p], Op SortBetween, Low :a and High :b.
type KeyRange struct {
	Partition []attr.Value // the value of each partition key attribute
	Equal     []attr.Value // the values of the sort attributes before the one Op is about
	Op        SortOp
	Low, High attr.Value
}

// SortSize returns the largest number of bytes that the values of the sort key take.
func (r KeyRange) SortSize() int {
	size := 0
	for _, v := range r.Equal {
		size += attr.SizeOf(v)
	}
	return size + max(attr.SizeOf(r.Low), attr.SizeOf(r.High))
}

// Contains reports whether a value of the sort attribute that Op is about is in the range.
func (r KeyRange) Contains(sort attr.Value) bool {
	switch r.Op {
	case SortAny:
		return true
	case SortBetween:
		return compare(opGreaterEqual, sort, r.Low) && compare(opLessEqual, sort, r.High)
	}
	return compare(sortOps[r.Op], sort, r.Low)
}

// KeyAttr is a key attribute and its type.
type KeyAttr struct {
	Name string
	Kind attr.Kind
}

// Key is a key: its first Partition attributes are the partition key, the others the sort key.
type Key struct {
	Attrs     []KeyAttr
	Partition int
}

// Multi reports whether the partition key or the sort key has more than one attribute.
func (k *Key) Multi() bool { return k.Partition > 1 || len(k.Attrs)-k.Partition > 1 }

// Check refuses empty values, and values whose type is not that of the key attribute.
func (r KeyRange) Check(k *Key) error {
	at := 0
	for _, list := range [...][]attr.Value{r.Partition, r.Equal} {
		for _, v := range list {
			if err := k.Attrs[at].check(v); err != nil {
				return err
			}
			at++
		}
	}
	if r.Op == SortAny {
		return nil
	}
	if err := k.Attrs[at].check(r.Low); err != nil || r.High.IsZero() {
		return err
	}
	return k.Attrs[at].check(r.High)
}

func (a KeyAttr) check(v attr.Value) error {
	switch {
	case v.Kind() != a.Kind:
		return errKeyType()
	case v.Kind() != attr.KindN && attr.SizeOf(v) == 0:
		return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
			"contain an empty %s value. Key: %s", emptyName(v.Kind()), a.Name)
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

// CheckKeyCondition refuses a text that is no condition at all, whatever the key.
func CheckKeyCondition(text string, params Params) error {
	b := binder{params: params}
	_, err := b.condition(formKey, text)
	return err
}

// keyRange converts a condition to a KeyRange.
func (c *Condition) keyRange(key *Key) (KeyRange, error) {
	k := keyReader{binding: c.binding, key: key}
	if err := k.read(c.root); err != nil {
		return KeyRange{}, err
	}
	if key.Multi() {
		return k.multiRange()
	}
	return k.keyRange()
}

// keyReader collects the terms of a key condition.
type keyReader struct {
	binding
	key   *Key
	found []keyTerm
}

// keyTerm is a condition on one attribute: "sk > :v", or ":v < sk", which is the same.
type keyTerm struct {
	name   string
	op     op
	values []attr.Value
}

// read collects the terms that AND connects. No other connective is allowed.
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
	at := -1 // which operand is the attribute
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
		term.op = flipComparator(n.op)
	}
	for i := range k.found {
		if k.found[i].name == term.name {
			return invalid("Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key")
		}
	}
	k.found = append(k.found, term)
	return nil
}

// flipComparator returns the comparator with its sides exchanged: < becomes >.
func flipComparator(o op) op {
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

// keyRange builds the range of a key with one attribute for each part: an equality on the partition key, then at most one condition on
// the sort key.
//
//	pk = :p                   the whole partition
//	pk = :p AND sk > :a       sort keys above a
//	pk > :p                   refused: the partition key needs an equality
//	sk = :a                   refused: the condition on the partition key is missing
func (k *keyReader) keyRange() (KeyRange, error) {
	if len(k.found) > 2 {
		return KeyRange{}, k.errTooMany()
	}
	if len(k.found) > len(k.key.Attrs) {
		return KeyRange{}, errKeyCondition()
	}
	var r KeyRange
	partition := k.key.Attrs[0]
	hash, ok := k.term(partition.Name)
	switch {
	case !ok:
		return KeyRange{}, errMissed(partition)
	case partition.Kind != 0 && hash.values[0].Kind() != partition.Kind:
		return KeyRange{}, errKeyType()
	case hash.op != opEqual:
		return KeyRange{}, errKeyCondition()
	}
	r.Partition = hash.values
	if len(k.found) == 1 {
		return r, nil
	}
	limit, ok := k.term(k.key.Attrs[1].Name)
	if !ok {
		return KeyRange{}, errMissed(k.key.Attrs[1])
	}
	r.limit(limit)
	return r, nil
}

// limit sets the condition on a sort attribute.
func (r *KeyRange) limit(t keyTerm) {
	r.Op, r.Low = SortOp(slices.Index(sortOps[:], t.op)), t.values[0]
	if t.op == opBetween {
		r.High = t.values[1]
	}
}

func (k *keyReader) errTooMany() error {
	return invalid("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)",
		len(k.found), len(k.key.Attrs))
}

func errKeyCondition() error { return invalid("Query key condition not supported") }

func errMissed(a KeyAttr) error {
	return invalid("Query condition missed key schema element: %s", a.Name)
}

func (k *keyReader) term(name string) (keyTerm, bool) {
	for _, t := range k.found {
		if t.name == name && name != "" {
			return t, true
		}
	}
	return keyTerm{}, false
}
