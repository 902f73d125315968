package dynamoapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// maxConstraints is how many violations the service reports.
const maxConstraints = 10

// constraints collects violations of the API's model. Locations are written as the service writes them: "tableName",
// "requestItems.t.member.1.putRequest.item".
type constraints struct {
	found []string
}

// err returns the violations; nil: none.
func (c *constraints) err() error {
	switch n := len(c.found); n {
	case 0:
		return nil
	case 1:
		return errValidation("1 validation error detected: %s", c.found[0])
	default:
		return errValidation("%d validation errors detected: %s", n, strings.Join(c.found, "; "))
	}
}

// full reports whether the maximum is reached, so that checks can stop.
func (c *constraints) full() bool { return len(c.found) == maxConstraints }

// fail records that the value at a location violates a rule. value is shown as given, quotes included.
func (c *constraints) fail(at, value, format string, args ...any) {
	if !c.full() {
		c.found = append(c.found, "Value "+value+" at '"+at+"' failed to satisfy constraint: "+fmt.Sprintf(format, args...))
	}
}

// failAt is fail in the style of the service's newer checks: members are named as in the request, and values are not shown.
func (c *constraints) failAt(member, format string, args ...any) {
	if !c.full() {
		c.found = append(c.found, "Value at '"+member+"' failed to satisfy constraint: "+fmt.Sprintf(format, args...))
	}
}

func quote(text string) string { return "'" + text + "'" }

// require records a missing member.
func (c *constraints) require(at string, set bool) bool {
	if !set {
		c.fail(at, "null", "Member must not be null")
	}
	return set
}

// table is the rule for a table name or ARN. For an empty name only its length is reported.
func (c *constraints) table(at string, v wire.Opt[string]) {
	switch {
	case !c.require(at, v.Set), strings.HasPrefix(v.V, "arn:"):
	case v.V == "":
		c.length(at, v, 1, maxTableName)
	default:
		c.name(at, v)
	}
}

// name is the rule for names of tables and indexes.
func (c *constraints) name(at string, v wire.Opt[string]) {
	if !v.Set {
		return
	}
	if !isName(v.V) {
		c.fail(at, quote(v.V), "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	c.length(at, v, 3, 255)
}

func isName(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')
	}) < 0
}

// length limits the length of a text in bytes.
func (c *constraints) length(at string, v wire.Opt[string], least, most int) {
	if v.Set {
		c.count(at, quote(v.V), len(v.V), least, most)
	}
}

// count limits n, the length of a value in the unit of its type: bytes, characters or elements.
func (c *constraints) count(at, value string, n, least, most int) {
	if n < least {
		c.fail(at, value, "Member must have length greater than or equal to %d", least)
	}
	if n > most {
		c.fail(at, value, "Member must have length less than or equal to %d", most)
	}
}

// elements limits the number of elements of a list, at least one. The service shows the in-memory names of its objects, which are
// meaningless and always different: here their number is shown.
func (c *constraints) elements(at string, n, most int) {
	value := "'[]'"
	if n > 0 {
		value = fmt.Sprintf("'[%d elements]'", n)
	}
	c.count(at, value, n, 1, most)
}

// requireOneOf records a text that is not among the known ones, which are listed in the service's order.
func (c *constraints) requireOneOf(at string, v wire.Opt[string], known ...string) {
	if v.Set && !slices.Contains(known, v.V) {
		c.fail(at, quote(v.V), "Member must satisfy enum value set: [%s]", strings.Join(known, ", "))
	}
}

// requireBetween limits a number.
func (c *constraints) requireBetween(at string, v wire.Opt[int64], least, most int64) {
	if v.Set && v.V < least {
		c.fail(at, fmt.Sprintf("'%d'", v.V), "Member must have value greater than or equal to %d", least)
	}
	if v.Set && v.V > most {
		c.fail(at, fmt.Sprintf("'%d'", v.V), "Member must have value less than or equal to %d", most)
	}
}

// Enumerations of many operations.

func (c *constraints) returnConsumedCapacity(v wire.Opt[string]) {
	c.requireOneOf("returnConsumedCapacity", v, "INDEXES", "TOTAL", "NONE")
}

func (c *constraints) returnItemCollectionMetrics(v wire.Opt[string]) {
	c.requireOneOf("returnItemCollectionMetrics", v, "SIZE", "NONE")
}

func (c *constraints) returnValues(v wire.Opt[string]) {
	c.requireOneOf("returnValues", v, "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
}

func (c *constraints) onConditionCheckFailure(at string, v wire.Opt[string]) {
	c.requireOneOf(at, v, "ALL_OLD", "NONE")
}
