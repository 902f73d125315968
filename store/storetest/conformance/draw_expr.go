package conformance

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// condition returns a condition on some of the attributes.
func (e *expressions) condition(over []string, depth int) string {
	if depth > 0 && e.chance(3, "join") {
		left, right := e.condition(over, depth-1), e.condition(over, depth-1)
		return fmt.Sprintf(one(e.draw, "how", "(%s) AND %s", "%s OR %s", "NOT (%s) AND (%s)"), left, right)
	}
	p := func() string { return e.path(over...) }
	v := func() string { return e.bind(e.value("operand")) }
	switch one(e.draw, "condition", "compare", "compare", "exists", "absent", "between", "in", "begins", "contains", "size", "type", "paths") {
	case "exists":
		return "attribute_exists(" + p() + ")"
	case "absent":
		return "attribute_not_exists(" + p() + ")"
	case "between":
		return fmt.Sprintf("%s BETWEEN %s AND %s", p(), e.bind(object{"N": "-1"}), e.bind(object{"N": one(e.draw, "high", "0", "1", "50")}))
	case "in":
		return fmt.Sprintf("%s IN (%s, %s)", p(), v(), v())
	case "begins":
		return fmt.Sprintf("begins_with(%s, %s)", p(), e.bind(object{"S": "a"}))
	case "contains":
		return fmt.Sprintf("contains(%s, %s)", p(), e.bind(e.scalar("member")))
	case "size":
		return fmt.Sprintf("size(%s) %s %s", p(), e.comparator(), e.bind(object{"N": "2"}))
	case "type":
		kind := one(e.draw, "type", "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")
		return fmt.Sprintf("attribute_type(%s, %s)", p(), e.bind(object{"S": kind}))
	case "paths":
		left, right := p(), p()
		if e.plain(left) == e.plain(right) {
			return "attribute_exists(" + left + ") OR attribute_exists(" + right + ")"
		}
		return left + " " + e.comparator() + " " + right
	}
	return p() + " " + one(e.draw, "comparator", "=", "<>") + " " + v()
}

func (e *expressions) comparator() string {
	return one(e.draw, "comparator", "=", "<>", "<", "<=", ">", ">=")
}

// plain returns a path without placeholders.
func (e *expressions) plain(path string) string { return strings.ReplaceAll(path, "#", "") }

// update returns an update of one to three attributes, each only once so that no paths overlap. It reports whether there are several, and
// whether one is a nested path.
func (e *expressions) update() (text string, several, deep bool) {
	clauses := map[string][]string{}
	left := rapid.SliceOfNDistinct(rapid.SampledFrom(names()), 1, 3, rapid.ID).Draw(e.T, "attributes")
	for _, attribute := range left {
		path := e.path(attribute)
		whole := e.plain(path) == attribute
		deep = deep || !whole
		word, action := e.action(attribute, path, whole)
		clauses[word] = append(clauses[word], action)
	}
	for _, word := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if len(clauses[word]) > 0 {
			text += word + " " + strings.Join(clauses[word], ", ") + " "
		}
	}
	return strings.TrimSpace(text), len(left) > 1, deep
}

// action returns one action of an update. Index keys usually keep their types.
func (e *expressions) action(attribute, path string, whole bool) (word, action string) {
	value := func() string {
		if whole {
			return e.bind(e.attribute(attribute))
		}
		return e.bind(e.scalar("new"))
	}
	switch one(e.draw, "action", "set", "set", "set", "remove", "add", "delete", "sum", "default", "append", "copy") {
	case "remove":
		return "REMOVE", path
	case "add":
		if attribute == "g" {
			break
		}
		return "ADD", path + " " + e.bind(one(e.draw, "addend", object{"N": "1"}, object{"NS": []string{"1", "7"}}, object{"SS": []string{"a", "q"}}))
	case "delete":
		return "DELETE", path + " " + e.bind(one(e.draw, "members", object{"SS": []string{"a"}}, object{"NS": []string{"1", "2"}}))
	case "sum":
		if attribute == "g" {
			break
		}
		return "SET", fmt.Sprintf("%s = if_not_exists(%s, %s) %s %s", path, path, e.bind(object{"N": "1"}),
			one(e.draw, "sign", "+", "-"), e.bind(e.number("addend")))
	case "default":
		return "SET", fmt.Sprintf("%s = if_not_exists(%s, %s)", path, path, value())
	case "append":
		if attribute != "l" || !whole {
			break
		}
		return "SET", fmt.Sprintf("%s = list_append(if_not_exists(%s, %s), %s)", path, path, e.bind(object{"L": []object{}}), e.bind(e.list("tail")))
	case "copy":
		if strings.Contains("ghno", attribute) {
			break
		}
		return "SET", path + " = " + e.path("s", "v", "w", "m", "l")
	}
	return "SET", path + " = " + value()
}
