package expr

// op is the operation of a node of a parsed expression.
type op uint8

const (
	opPath    op = iota + 1 // the value at a document path
	opValue                 // a value placeholder
	opUnknown               // an unknown function: the parse ends with an error
	opSize                  // the functions of conditions
	opExists
	opNotExists
	opType
	opBeginsWith
	opContains
	opIfNotExists // the functions of updates
	opListAppend
	opPlus // the operators of updates
	opMinus
	opEqual // the comparators
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opBetween
	opIn
	opAnd // the connectives
	opOr
	opNot
)

// String returns the operator or function as DynamoDB's errors name it.
func (o op) String() string { return opNames[o] }

var opNames = [...]string{
	opPath:         "?",
	opValue:        "?",
	opUnknown:      "?",
	opSize:         "size",
	opExists:       "attribute_exists",
	opNotExists:    "attribute_not_exists",
	opType:         "attribute_type",
	opBeginsWith:   "begins_with",
	opContains:     "contains",
	opIfNotExists:  "if_not_exists",
	opListAppend:   "list_append",
	opPlus:         "+",
	opMinus:        "-",
	opEqual:        "=",
	opNotEqual:     "<>",
	opLess:         "<",
	opLessEqual:    "<=",
	opGreater:      ">",
	opGreaterEqual: ">=",
	opBetween:      "BETWEEN",
	opIn:           "IN",
	opAnd:          "AND",
	opOr:           "OR",
	opNot:          "NOT",
}

// isFunction reports whether the node is a function, as opposed to an operator or an operand.
func (o op) isFunction() bool { return o >= opUnknown && o <= opListAppend }

// isTruth reports whether the operator returns a truth value, which cannot be compared with anything.
func (o op) isTruth() bool { return o >= opEqual }

// functionOp returns the function with the given name, which is case-sensitive, or opUnknown.
func functionOp(name string) op {
	for o := opSize; o <= opListAppend; o++ {
		if o.String() == name {
			return o
		}
	}
	return opUnknown
}

// node is an operator or function with its operands, or an operand. It refers to placeholders by number and never holds their values: a
// parsed expression serves every request with the same text.
type node struct {
	op     op
	parens bool   // it was in parentheses: a second pair is redundant
	at     int    // the first token of a function
	value  int    // opValue: the number of the placeholder
	path   path   // opPath
	args   []node // the operands, in the order of the text
}

// parsed is a parsed expression, without the values of its placeholders. It is never changed after the parse.
type parsed struct {
	names   []string       // the name placeholders, in the order of their first use
	values  []string       // the value placeholders, likewise
	number  map[string]int // maps both to their numbers
	root    node           // of a condition
	actions []action       // of an update, in the order of the text
	paths   []path         // of a projection
}
