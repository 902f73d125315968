package partiql

import (
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// nodeKind is the kind of a node in the syntax tree.
type nodeKind uint8

const (
	nodePath    nodeKind = iota // an attribute or something inside it: steps
	nodeValue                   // a literal of a simple type: value
	nodeParam                   // ?: param
	nodeMissing                 // MISSING
	nodeIon                     // a literal of Amazon Ion: name is its type
	nodeList                    // [a, b] or (a, b): args
	nodeBag                     // <<a, b>>: args
	nodeMap                     // {a: b}: keys and args
	nodeCall                    // name(args)
	nodeOp                      // an operator with one or two operands and a value: name, args
	nodeCompare                 // = <> < <= > >=: name, two args
	nodeAnd                     // args, at least two
	nodeOr                      // args, at least two
	nodeNot                     // one arg
	nodeIs                      // one arg IS the type called name
	nodeIn                      // args[0] IN args[1]
	nodeBetween                 // args[0] BETWEEN args[1] AND args[2]
)

// node is a node of the syntax tree.
type node struct {
	kind  nodeKind
	at    place // position of the operator or function name, otherwise of the first token
	name  string
	steps []step
	value attr.Value
	param int
	keys  []*node
	args  []*node
}

// noIndex is the index of a step by name.
const noIndex = -1

// step is one element of a path: a name in a map or an index in a list.
type step struct {
	name  string
	index int
}

// attribute returns the attribute's name if the path is just that, otherwise "".
func (n *node) attribute() string {
	if n.kind == nodePath && len(n.steps) == 1 {
		return n.steps[0].name
	}
	return ""
}

// isCondition reports whether the node is true or false for an item.
func (n *node) isCondition() bool {
	switch n.kind {
	case nodeCompare, nodeAnd, nodeOr, nodeNot, nodeIs, nodeIn, nodeBetween:
		return true
	case nodeCall:
		return n.name != "size"
	case nodeOp:
		return n.name == "like" // refused later, by name
	}
	return false
}

// mustHold refuses operands of ANDs, ORs and NOTs that are not true or false.
func (n *node) mustHold() {
	if !n.isCondition() {
		panic(invalid("WHERE clause must contain an expression that resolves to a boolean"))
	}
	if n.kind != nodeNot && n.kind != nodeAnd && n.kind != nodeOr {
		return
	}
	for _, arg := range n.args {
		switch {
		case arg.isCondition():
			arg.mustHold()
		case n.kind == nodeNot:
			panic(invalid("The argument to NOT must be a Type or Expression"))
		default:
			panic(invalid("The arguments to AND/OR must be Expressions"))
		}
	}
}

// attributes calls visit with the name of each attribute in the node, in the order of the text.
func (n *node) attributes(visit func(name string)) {
	if n.kind == nodePath {
		visit(n.steps[0].name)
	}
	for _, arg := range n.args {
		arg.attributes(visit)
	}
}

// conjuncts returns the conditions that must all hold.
func (n *node) conjuncts() []*node {
	switch {
	case n == nil:
		return nil
	case n.kind == nodeAnd:
		return n.args
	}
	return []*node{n}
}

// label returns the name under which a SELECT shows a path's value: the last name with the indexes after it.
func label(path []step) string {
	last := len(path) - 1
	for path[last].index != noIndex {
		last--
	}
	text := []byte(path[last].name)
	for _, s := range path[last+1:] {
		text = append(strconv.AppendInt(append(text, '['), int64(s.index), 10), ']')
	}
	return string(text)
}
