package legacy

import (
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Value is a value as given.
type Value struct {
	V   attr.Value
	Err error // why it is invalid
}

// Comparison is an entry of KeyConditions, QueryFilter or ScanFilter.
type Comparison struct {
	Name     string // attribute name
	Operator string // empty: absent
	Compared bool   // ComparisonOperator is present, even if empty
	Values   []Value
	Listed   bool // AttributeValueList is present
}

// Expectation is an entry of Expected: a Comparison, or the older form: the attribute has this value, or does not exist.
type Expectation struct {
	Comparison
	Value  *Value // nil: absent
	Exists *bool  // nil: absent
}

// Change is an entry of AttributeUpdates.
type Change struct {
	Name   string
	Action string // empty: PUT
	Value  *Value // nil: absent
}

// Operators returns the comparison operators in the service's order.
func Operators() []string {
	return []string{
		"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE", "CONTAINS",
	}
}

const badParameter = "One or more parameter values were invalid: "

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "validation", format, args...)
}

// CheckComparisons refuses entries of a filter or key condition that are invalid for any table.
func CheckComparisons(all []Comparison) error {
	return checkAll(all, func(c *Comparison) error {
		if err := c.checkValues(); err != nil {
			return err
		}
		return c.check()
	})
}

func checkAll[T any](all []T, check func(*T) error) error {
	for i := range all {
		if err := check(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkValues refuses the first invalid value.
func (c *Comparison) checkValues() error {
	if c.Name == "" {
		return invalid("Empty attribute name")
	}
	for _, v := range c.Values {
		if v.Err != nil {
			return v.Err
		}
	}
	return nil
}

// check refuses a wrong number of values, and types that the operator does not accept.
func (c *Comparison) check() error {
	op, values := c.Operator, c.Values
	if least, most := arguments(op); len(values) < least || len(values) > most {
		return invalid(badParameter+"Invalid number of argument(s) for the %s ComparisonOperator", op)
	}
	for _, v := range values {
		if v.V.Kind() != values[0].V.Kind() {
			return invalid(badParameter + "AttributeValues inside AttributeValueList must be of same type")
		}
	}
	for _, v := range values {
		if !takes(op, v.V.Kind()) {
			return invalid(badParameter+"ComparisonOperator %s is not valid for %s AttributeValue type", op, v.V.Kind())
		}
	}
	if op == "BETWEEN" {
		if order, _ := attr.Compare(values[0].V, values[1].V); order > 0 {
			return invalid("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")
		}
	}
	return nil
}

// arguments returns how many values an operator accepts.
func arguments(op string) (least, most int) {
	const anyNumber = 1 << 30
	switch op {
	case "NULL", "NOT_NULL":
		return 0, 0
	case "BETWEEN":
		return 2, 2
	case "IN":
		return 1, anyNumber
	}
	return 1, 1
}

// takes reports whether an operator accepts values of a type.
func takes(op string, k attr.Kind) bool {
	text := k == attr.KindS || k == attr.KindB
	set := k == attr.KindSS || k == attr.KindNS || k == attr.KindBS
	switch op {
	case "EQ", "NE":
		return true
	case "CONTAINS", "NOT_CONTAINS":
		return !set && k != attr.KindL && k != attr.KindM
	case "BEGINS_WITH":
		return text
	}
	return text || k == attr.KindN
}

// CheckExpected refuses entries of Expected that are invalid for any table.
func CheckExpected(all []Expectation) error { return checkAll(all, (*Expectation).check) }

func (e *Expectation) check() error {
	switch {
	case e.Name == "":
		return invalid("Empty attribute name")
	case e.Listed && e.Value != nil:
		return invalid(badParameter+"Value and AttributeValueList cannot be used together for Attribute: %s", e.Name)
	case e.Operator != "":
		return e.checkComparison()
	case e.Listed:
		return invalid(badParameter+"AttributeValueList can only be used with a ComparisonOperator for Attribute: %s", e.Name)
	}
	exists := "null"
	if e.Exists != nil {
		exists = strconv.FormatBool(*e.Exists)
	}
	switch {
	case exists != "false" && e.Value == nil:
		return invalid(badParameter+"Value must be provided when Exists is %s for Attribute: %s", exists, e.Name)
	case exists == "false" && e.Value != nil:
		return invalid(badParameter+"Value cannot be used when Exists is false for Attribute: %s", e.Name)
	}
	if e.Value == nil {
		return nil
	}
	return e.Value.Err
}

func (e *Expectation) checkComparison() error {
	op := e.Operator
	switch {
	case e.Exists != nil:
		return invalid(badParameter+"Exists and ComparisonOperator cannot be used together for Attribute: %s", e.Name)
	case op != "NULL" && op != "NOT_NULL" && !e.Listed && e.Value == nil:
		return invalid(badParameter+"Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %s",
			op, e.Name)
	}
	c := e.comparison()
	if err := c.checkValues(); err != nil {
		return err
	}
	return c.check()
}

// comparison returns the expectation in the newer form.
func (e *Expectation) comparison() Comparison {
	c := e.Comparison
	if e.Value != nil {
		c.Values = []Value{*e.Value}
	}
	if c.Operator == "" {
		c.Operator = "EQ"
		if e.Exists != nil && !*e.Exists {
			c.Operator = "NULL"
		}
	}
	return c
}

// CheckChanges refuses entries of AttributeUpdates that are invalid for any table.
func CheckChanges(all []Change) error { return checkAll(all, (*Change).check) }

func (c *Change) check() error {
	var k attr.Kind
	if c.Value != nil {
		k = c.Value.V.Kind()
	}
	set := k == attr.KindSS || k == attr.KindNS || k == attr.KindBS
	switch {
	case c.Name == "":
		return invalid("Empty attribute name")
	case c.Value != nil && c.Value.Err != nil:
		return c.Value.Err
	case c.Value == nil && c.Action != "DELETE":
		return invalid(badParameter + "Only DELETE action is allowed when no attribute value is specified")
	case c.Value != nil && c.Action == "DELETE" && !set:
		return invalid(badParameter+"DELETE action with value is not supported for the type %s", k)
	case c.Action == "ADD" && !set && k != attr.KindN && k != attr.KindL:
		return invalid(badParameter+"ADD action is not supported for the type %s", k)
	}
	return nil
}

// CheckOperator refuses a ConditionalOperator that joins nothing: it needs two entries of a filter or of Expected.
func CheckOperator(operator string, entries int) error {
	switch {
	case operator == "" || entries >= 2:
		return nil
	case entries == 0:
		return invalid("ConditionalOperator cannot be used without Filter or Expected")
	}
	return invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
}

// CheckAttributes refuses invalid names in AttributesToGet.
func CheckAttributes(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" {
			return invalid("Empty attribute name")
		}
		if seen[name] {
			return invalid(badParameter+"Duplicate value in attribute name: %s", name)
		}
		seen[name] = true
	}
	return nil
}

// CheckKey refuses KeyConditions that do not fit the key of a table or index. For a key with several attributes per part it checks each
// condition by itself: their combination is checked as for a KeyConditionExpression.
func CheckKey(all []Comparison, key *expr.Key) error {
	if key.Multi() {
		return checkAll(all, (*Comparison).checkIndexable)
	}
	if len(all) != 1 && len(all) != 2 {
		return invalid("Conditions can be of length 1 or 2 only")
	}
	for i, a := range key.Attrs {
		if len(all) > len(key.Attrs) {
			return invalid("Query key condition not supported")
		}
		at := slices.IndexFunc(all, func(c Comparison) bool { return c.Name == a.Name })
		if at < 0 {
			if i == 0 || len(all) > 1 {
				return invalid("Query condition missed key schema element: %s", a.Name)
			}
			continue
		}
		if err := all[at].checkKey(a, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comparison) checkIndexable() error {
	if slices.Contains([]string{"NULL", "NOT_NULL", "NE", "CONTAINS", "NOT_CONTAINS", "IN"}, c.Operator) {
		return invalid("Attempted conditional constraint is not an indexable operation")
	}
	return nil
}

func (c *Comparison) checkKey(a expr.KeyAttr, partition bool) error {
	if err := c.checkIndexable(); err != nil {
		return err
	}
	for _, v := range c.Values {
		if v.V.Kind() != a.Kind {
			return invalid(badParameter + "Condition parameter type does not match schema type")
		}
	}
	if partition && c.Operator != "EQ" {
		return invalid("Query key condition not supported")
	}
	return nil
}

// CheckFilter refuses a QueryFilter on an attribute of the key.
func CheckFilter(all []Comparison, key *expr.Key) error {
	for _, a := range key.Attrs {
		if slices.ContainsFunc(all, func(c Comparison) bool { return c.Name == a.Name }) {
			return invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: %s", a.Name)
		}
	}
	return nil
}
