package partiql

import (
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// builder writes the expressions of one request to the store. They share names and values, without duplicates.
type builder struct {
	params []attr.Value // parameters of the statement
	twice  int          // number of conditions written twice, see truth
	names  map[string]string
	values attr.Item
	known  map[string]string // name, or encoded value, to its placeholder
}

func newBuilder(params []attr.Value) *builder {
	return &builder{params: params, known: map[string]string{}}
}

// exprParams returns the names and values.
func (b *builder) exprParams() expr.Params { return expr.Params{Names: b.names, Values: b.values} }

// name returns the placeholder of an attribute's name. Placeholders keep reserved words and special characters out of the expressions.
func (b *builder) name(name string) string {
	if p, ok := b.known["#"+name]; ok {
		return p
	}
	if b.names == nil {
		b.names = map[string]string{}
	}
	p := "#" + strconv.Itoa(len(b.names))
	b.names[p] = name
	b.known["#"+name] = p
	return p
}

// value returns the placeholder of a value.
func (b *builder) value(v attr.Value) string {
	key := ":" + string(attr.Encode(nil, attr.Item{"": v}))
	if p, ok := b.known[key]; ok {
		return p
	}
	if b.values == nil {
		b.values = attr.Item{}
	}
	p := ":" + strconv.Itoa(len(b.values))
	b.values[p] = v
	b.known[key] = p
	return p
}

func (b *builder) path(steps []step) string {
	var text strings.Builder
	for i, s := range steps {
		switch {
		case s.index != noIndex:
			text.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			text.WriteString("." + b.name(s.name))
		default:
			text.WriteString(b.name(s.name))
		}
	}
	return text.String()
}

// all joins conditions with AND; "" for none.
func (b *builder) all(conditions []*node) string {
	switch len(conditions) {
	case 0:
		return ""
	case 1:
		return b.condition(conditions[0])
	}
	return b.condition(both(conditions...))
}

// condition writes a node that is true or false for an item.
func (b *builder) condition(n *node) string {
	switch n.kind {
	case nodeAnd, nodeOr:
		return b.junction(n)
	case nodeNot:
		return "NOT " + b.writeEnclosed(n.args[0])
	case nodeCompare:
		return b.comparison(n)
	case nodeIs:
		return b.typeTest(n)
	case nodeIn:
		return b.membership(n)
	case nodeBetween:
		args := each(n.args, b.operand)
		return args[0] + " BETWEEN " + args[1] + " AND " + args[2]
	case nodeCall:
		if !knownFunction(n.name) {
			panic(invalidAt(n.at, "Unrecognized function: %s", n.name))
		}
		return b.call(n, b.operand) // store/expr reports errors of its arguments in DynamoDB's words
	}
	panic(errOperator(n.name))
}

// junction writes an AND or OR. Only OR within AND needs parentheses; others would be refused as redundant.
func (b *builder) junction(n *node) string {
	parts := each(n.args, func(arg *node) string {
		text := b.condition(arg)
		if arg.kind == nodeOr {
			text = "(" + text + ")"
		}
		return text
	})
	return strings.Join(parts, " "+strings.ToUpper(n.name)+" ")
}

func (b *builder) comparison(n *node) string {
	left, right := n.args[0], n.args[1]
	if right.isCondition() && !left.isCondition() {
		left, right = right, left
	}
	if left.isCondition() {
		return b.truth(n.name, left, right)
	}
	return strings.Join(each(n.args, b.operand), " "+n.name+" ")
}

// writeEnclosed writes a condition that can be used as an operand.
func (b *builder) writeEnclosed(n *node) string {
	text := b.condition(n)
	if n.kind == nodeOr || n.kind == nodeAnd {
		text = "(" + text + ")"
	}
	return text
}

func (b *builder) typeTest(n *node) string {
	operand := n.args[0]
	if operand.kind != nodePath && operand.kind != nodeValue {
		panic(invalid("The left hand side argument to IS must be a Variable Reference, Literal, or Path"))
	}
	path := b.operand(operand)
	if n.name == "missing" {
		return "attribute_not_exists(" + path + ")"
	}
	kind := map[string]string{
		"null": "NULL", "boolean": "BOOL", "blob": "B", "string": "S", "numeric": "N", "struct": "M", "tuple": "M", "list": "L",
	}[n.name]
	if kind == "" {
		panic(invalidAt(n.at, "Unsupported data type for IS operator: %s. Supported data types are "+
			"[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]", strings.ToUpper(n.name)))
	}
	return "attribute_type(" + path + ", " + b.value(attr.S(kind)) + ")"
}

// typeName returns the canonical name of a PartiQL type; "" if the word is no type. Two types have a second word, which take consumes
// if present.
func typeName(word string, take func(word string) bool) string {
	switch word {
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	case "dec":
		return "decimal"
	case "char", "character":
		if take("varying") {
			return "character_varying"
		}
		return "character"
	case "varchar":
		return "character_varying"
	case "double":
		if take("precision") {
			return "double_precision"
		}
	case "missing", "null", "boolean", "blob", "string", "numeric", "struct", "tuple", "list", // types of DynamoDB
		"any", "bag", "bigint", "clob", "date", "decimal", "float", "int2", "int4", "int8", "integer", "real", "sexp", "smallint",
		"symbol", "time", "timestamp":
		return word
	}
	return ""
}

func (b *builder) membership(n *node) string {
	left, right := n.args[0], n.args[1]
	if left.isCondition() {
		return b.truthAmong(left, right)
	}
	seq := right.kind == nodeList || right.kind == nodeBag
	if !seq || len(right.args) == 0 || left.kind != nodePath && left.kind != nodeValue && left.kind != nodeParam {
		panic(invalid("IN operator must have a left hand argument of type Variable Reference and right hand argument of type " +
			"Seq with at least one member"))
	}
	return b.operand(left) + " IN (" + strings.Join(each(right.args, b.operand), ", ") + ")"
}

// call writes a function with its arguments.
func (b *builder) call(n *node, operand func(*node) string) string {
	if len(n.args) == 0 { // not in the grammar of expressions
		panic(invalid("Incorrect number of operands for operator or function; operator or function: %s, number of operands: 0", n.name))
	}
	return n.name + "(" + strings.Join(each(n.args, operand), ", ") + ")"
}

func each(nodes []*node, write func(*node) string) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = write(n)
	}
	return out
}

// operand writes an operand of a comparison.
func (b *builder) operand(n *node) string {
	switch {
	case n.kind == nodePath:
		return b.path(n.steps)
	case n.isConstant():
		return b.value(n.constant(b.params))
	case n.kind == nodeMissing:
		panic(invalid("MISSING must be compared using IS operator"))
	case n.kind == nodeCall && n.name == "size":
		return b.call(n, b.operand)
	case n.kind == nodeCall && !knownFunction(n.name):
		panic(invalidAt(n.at, "Unrecognized function: %s", n.name))
	case n.kind == nodeOp && len(n.args) == 1:
		panic(invalid("Incorrect number of operands for operator or function; operator or function: %s, number of operands: 1", n.name))
	}
	panic(errOperator(n.name))
}

func errOperator(name string) refusal {
	return invalid("Unsupported operator in Condition Expression. Operator: %s", name)
}

func knownFunction(name string) bool {
	switch name {
	case "begins_with", "contains", "attribute_type", "attribute_exists", "attribute_not_exists":
		return true
	}
	return false
}
