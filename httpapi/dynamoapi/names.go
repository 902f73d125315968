package dynamoapi

import "strings"

// tableName gives the name of a table that a request calls by its name or its ARN
// (arn:aws:dynamodb:region:account:table/name).
func tableName(name string) string {
	if !strings.HasPrefix(name, "arn:") {
		return name
	}
	if of, ok := resource(name); ok { // as the operations on streams and tags read it: who may do what hangs on both
		name, _, _ = strings.Cut(of, "/")
	}
	return name
}

// called gives the name that a request, whose tables these are, has for a table: the table's own, or its ARN.
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
