package partiql

import (
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// root is what the service calls the top of a literal.
const root = "root"

// isConstant reports whether the node has a value of its own, whatever the item.
func (n *node) isConstant() bool {
	switch n.kind {
	case nodeValue, nodeParam, nodeIon, nodeList, nodeBag, nodeMap:
		return true
	}
	return false
}

// constant returns the value of a literal or a parameter.
func (n *node) constant(params []attr.Value) (attr.Value, error) {
	if n.kind == nodeParam {
		return params[n.param], nil
	}
	return n.literal(root, 0)
}

// maxLevels is how deep lists and maps may lie in one another, with the item as the first level.
const maxLevels = 32

// literal returns the value of a literal, under names where it lies in the whole one, level levels deep. There are no
// parameters in it.
func (n *node) literal(under string, level int) (attr.Value, error) {
	if level >= maxLevels {
		return attr.Value{}, invalid("Nesting Levels have exceeded supported limits under %s", under)
	}
	switch n.kind {
	case nodeValue:
		return n.value, nil
	case nodeList:
		elems := make([]attr.Value, len(n.args))
		for i, arg := range n.args {
			var err error
			if elems[i], err = arg.literal(under+"["+strconv.Itoa(i)+"]", level+1); err != nil {
				return attr.Value{}, err
			}
		}
		return attr.L(elems...), nil
	case nodeMap:
		return n.literalMap(under, level)
	case nodeBag:
		return n.literalSet()
	case nodeIon:
		return attr.Value{}, invalidAt(n.at, "Ion Literals are not supported: %s under key %s", n.name, under)
	}
	return attr.Value{}, invalidAt(n.at, "Unsupported data type: %s under key %s", n.typeName(under != root), under)
}

// typeName is what the service calls a node that is no literal.
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

func (n *node) literalMap(under string, level int) (attr.Value, error) {
	it := make(attr.Item, len(n.args))
	for i, arg := range n.args {
		key, err := n.key(i, it, n.at)
		if err != nil {
			return attr.Value{}, err
		}
		if it[key], err = arg.literal(under+"."+key, level+1); err != nil {
			return attr.Value{}, err
		}
	}
	return attr.M(it), nil
}

// key returns a key of a map, which is not in it yet.
func (n *node) key(i int, it attr.Item, twice place) (string, error) {
	k := n.keys[i]
	if k.kind != nodeValue || k.value.Kind() != attr.KindS {
		name := k.typeName(true)
		if k.kind == nodeValue {
			name = k.value.Kind().String()
		}
		return "", invalidAt(k.at, "Tuple keys must be of type String. Actual type: %s under %s", name, root)
	}
	name := k.value.Str()
	if _, ok := it[name]; ok {
		return "", invalidAt(twice, "Duplicate keys in tuple. Key: %s under %s", name, root)
	}
	return name, nil
}

func (n *node) literalSet() (attr.Value, error) {
	if len(n.args) == 0 {
		return attr.Value{}, invalid("Empty bags are not supported")
	}
	members := make([]string, len(n.args))
	kind := n.args[0].value.Kind()
	for i, arg := range n.args {
		switch {
		case arg.kind != nodeValue, arg.value.Kind() != attr.KindS && arg.value.Kind() != attr.KindN:
			return attr.Value{}, invalidAt(arg.at, unsupportedInBag)
		case arg.value.Kind() != kind:
			return attr.Value{}, invalid(unsupportedInBag)
		case kind == attr.KindS:
			members[i] = arg.value.Str()
		default:
			members[i] = arg.name
		}
	}
	return n.set(kind, members)
}

const unsupportedInBag = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"

// set makes a set whose members are all different.
func (n *node) set(kind attr.Kind, members []string) (attr.Value, error) {
	seen := make(map[string]bool, len(members))
	values := make([]string, len(members))
	for i, arg := range n.args {
		values[i] = members[i]
		if kind == attr.KindN {
			values[i] = arg.value.Str()
		}
		if seen[values[i]] && kind == attr.KindN {
			return attr.Value{}, duplicates(members, "! under root")
		}
		if seen[values[i]] {
			return attr.Value{}, duplicates(members, ".")
		}
		seen[values[i]] = true
	}
	if kind == attr.KindN {
		return attr.NS(values...)
	}
	return attr.SS(values...)
}

// duplicates is the refusal of a set with a member twice; the service ends it in one way or another.
func duplicates(members []string, end string) error {
	return invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates%s",
		strings.Join(members, ", "), end)
}
