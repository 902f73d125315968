package dynamoapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RequestItems of BatchGetItem and BatchWriteItem: what is asked for, by tables, each called by its name or its ARN.

// constrainTables bounds the number of tables, and refuses those that cannot be called so. It gives the tables in order.
func constrainTables[T any](c *constraints, tables map[string]T, most int, shown func() string) []string {
	c.count("requestItems", "'{}'", len(tables), 0, most)
	names := slices.Sorted(maps.Keys(tables))
	for _, table := range names {
		if !c.full() && !isTable(table) {
			c.fail("requestItems", shown(), "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
				"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]")
		}
	}
	return names
}

func errNoRequests(operation string) error {
	return errValidation("The requestItems parameter is required for %s", operation)
}

// isTable reports whether a table can be called so, by its name or its ARN.
func isTable(name string) bool {
	name = tableName(name)
	return isName(name) && len(name) >= minTableName && len(name) <= maxTableName
}

// showTables is RequestItems as errors show it: of each table how many parts are asked for.
func showTables[T any](tables map[string]T, count func(T) int, parts string) string {
	var out []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		out = append(out, fmt.Sprintf("%s=[%d %s]", table, count(tables[table]), parts))
	}
	return "'{" + strings.Join(out, ", ") + "}'"
}

// called returns the name that a request, whose tables these are, has for a table: the table's own, or its ARN.
func called[T any](tables map[string]T, table string) string {
	if _, ok := tables[table]; ok {
		return table
	}
	for name := range tables {
		if tableName(name) == table {
			return name
		}
	}
	return table
}
