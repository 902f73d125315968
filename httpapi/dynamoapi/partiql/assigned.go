package partiql

import "github.com/touchline/touchline/store/attr"

// assigned writes the right side of a SET. Sums and differences may have any number of constants, which become one.
func (b *builder) assigned(n *node) (string, error) {
	if n.kind != nodeOp || n.name != "+" && n.name != "-" || len(n.args) != 2 {
		return b.term(n)
	}
	var s sum
	if err := s.take(b, n, false, n.name); err != nil {
		return "", err
	}
	switch {
	case len(s.terms) == 0:
		return b.value(s.constant), nil
	case len(s.terms) > 2, len(s.terms) == 2 && !s.constant.IsZero(), s.terms[0].minus && len(s.terms) == 2 && s.terms[1].minus:
		return "", invalid("Unsupported operator in Update Expression. Operator: %s", n.name)
	}
	return s.write(b)
}

// sum is a sum of terms and one constant, which is absent if there is none.
type sum struct {
	constant attr.Value
	terms    []sumTerm
}

type sumTerm struct {
	of    *node
	minus bool
}

// take adds or subtracts a node, which is an operand of op.
func (s *sum) take(b *builder, n *node, minus bool, op string) error {
	if n.kind == nodeOp && len(n.args) == 2 && (n.name == "+" || n.name == "-") {
		if err := s.take(b, n.args[0], minus, n.name); err != nil {
			return err
		}
		return s.take(b, n.args[1], minus != (n.name == "-"), n.name)
	}
	if !n.isConstant() {
		s.terms = append(s.terms, sumTerm{n, minus})
		return nil
	}
	v, err := n.constant(b.params)
	switch {
	case err != nil:
		return err
	case v.Kind() != attr.KindN:
		return invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", op, v.Kind())
	}
	if s.constant.IsZero() {
		s.constant = attr.Int(0)
	}
	if minus {
		s.constant, err = attr.Sub(s.constant, v)
	} else {
		s.constant, err = attr.Add(s.constant, v)
	}
	return err
}

// write writes one term and a constant, or two terms.
func (s *sum) write(b *builder) (string, error) {
	first, err := b.term(s.terms[0].of)
	if err != nil {
		return "", err
	}
	switch {
	case len(s.terms) == 1 && s.terms[0].minus:
		return b.value(s.constant) + " - " + first, nil
	case len(s.terms) == 1:
		return first + " + " + b.value(s.constant), nil
	}
	second, err := b.term(s.terms[1].of)
	if err != nil {
		return "", err
	}
	switch {
	case s.terms[0].minus:
		return second + " - " + first, nil
	case s.terms[1].minus:
		return first + " - " + second, nil
	}
	return first + " + " + second, nil
}

// term writes an operand of an update.
func (b *builder) term(n *node) (string, error) {
	switch {
	case n.kind == nodeIs:
		return "", invalid("IS operator is not supported in update expressions")
	case n.kind == nodeCall:
		return b.updateFunction(n)
	case n.kind == nodePath, n.isConstant(), n.kind == nodeMissing, n.kind == nodeOp && len(n.args) == 1:
		return b.operand(n)
	}
	return "", invalid("Unsupported operator in Update Expression. Operator: %s", n.name)
}

func (b *builder) updateFunction(n *node) (string, error) {
	switch n.name {
	case "list_append", "if_not_exists":
		return b.call(n, b.term)
	case "size", "begins_with", "contains", "attribute_type", "attribute_exists", "attribute_not_exists":
		return "", invalid("The function is not allowed in an update expression; function: %s", n.name)
	}
	return "", invalidAt(n.at, "Unrecognized function: %s", n.name)
}
