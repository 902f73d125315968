package partiql

import (
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// root is the service's name for the top level of a literal.
const root = "root"

// isConstant reports whether the node's value does not depend on the item.
func (n *node) isConstant() bool {
	switch n.kind {
	case nodeValue, nodeParam, nodeIon, nodeList, nodeBag, nodeMap:
		return true
	}
	return false
}

// constant returns the value of a literal or a parameter.
func (n *node) constant(params []attr.Value) attr.Value {
	if n.kind == nodeParam {
		return params[n.param]
	}
	return n.literal(root, 0)
}

// maxLevels is how deep lists and maps may nest; the item is the first level.
const maxLevels = 32

// literal returns the value of a literal without parameters. under and level are its position within the whole literal.
func (n *node) literal(under string, level int) attr.Value {
	if level >= maxLevels {
		panic(invalid("Nesting Levels have exceeded supported limits under %s", under))
	}
	switch n.kind {
	case nodeValue:
		return n.value
	case nodeList:
		elems := make([]attr.Value, len(n.args))
		for i, arg := range n.args {
			elems[i] = arg.literal(under+"["+strconv.Itoa(i)+"]", level+1)
		}
		return attr.L(elems...)
	case nodeMap:
		it := make(attr.Item, len(n.args))
		for i, arg := range n.args {
			key := n.key(i, it, n.at)
			it[key] = arg.literal(under+"."+key, level+1)
		}
		return attr.M(it)
	case nodeBag:
		return n.literalSet()
	case nodeIon:
		panic(invalidAt(n.at, "Ion Literals are not supported: %s under key %s", n.name, under))
	}
	panic(invalidAt(n.at, "Unsupported data type: %s under key %s", n.typeName(under != root), under))
}

// typeName returns the service's name for a node that is not a literal.
func (n *node) typeName(nested bool) string {
	switch {
	case n.kind == nodeMissing:
		return "MISSING"
	case n.kind == nodeParam:
		return "Parameter"
	case n.kind == nodePath && len(n.steps) > 1:
		return "PATH"
	case n.kind == nodePath && !nested:
		return n.steps[0].name
	case n.kind == nodePath:
		return "VariableReference"
	case nested || n.name == "":
		return "NAry"
	}
	return n.name
}

// key returns a key of a map, and refuses one that is already in it.
func (n *node) key(i int, it attr.Item, twice place) string {
	k := n.keys[i]
	if k.kind != nodeValue || k.value.Kind() != attr.KindS {
		name := k.typeName(true)
		if k.kind == nodeValue {
			name = k.value.Kind().String()
		}
		panic(invalidAt(k.at, "Tuple keys must be of type String. Actual type: %s under %s", name, root))
	}
	name := k.value.Str()
	if _, ok := it[name]; ok {
		panic(invalidAt(twice, "Duplicate keys in tuple. Key: %s under %s", name, root))
	}
	return name
}

// literalSet returns a set, whose members must be distinct strings or numbers.
func (n *node) literalSet() attr.Value {
	if len(n.args) == 0 {
		panic(invalid("Empty bags are not supported"))
	}
	kind := n.args[0].value.Kind()
	for _, arg := range n.args {
		switch {
		case arg.kind != nodeValue, arg.value.Kind() != attr.KindS && arg.value.Kind() != attr.KindN:
			panic(invalidAt(arg.at, unsupportedInBag))
		case arg.value.Kind() != kind:
			panic(invalid(unsupportedInBag))
		}
	}
	seen := make(map[string]bool, len(n.args))
	members := make([]string, len(n.args))
	for i, arg := range n.args {
		if members[i] = arg.value.Str(); seen[members[i]] {
			panic(n.duplicates(kind))
		}
		seen[members[i]] = true
	}
	if kind == attr.KindN {
		return must(attr.NS(members...))
	}
	return must(attr.SS(members...))
}

const unsupportedInBag = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"

// duplicates returns the refusal of a set with a repeated member. The service shows numbers as they were written, and ends the message
// in one of two ways.
func (n *node) duplicates(kind attr.Kind) refusal {
	members, end := make([]string, len(n.args)), "."
	for i, arg := range n.args {
		members[i] = arg.value.Str()
		if kind == attr.KindN {
			members[i], end = arg.name, "! under root"
		}
	}
	return invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates%s",
		strings.Join(members, ", "), end)
}
