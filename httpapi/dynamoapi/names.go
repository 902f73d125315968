package dynamoapi

import "strings"

// tableName gives the name of a table that a request calls by its name or its ARN
// (arn:aws:dynamodb:region:account:table/name).
func tableName(name string) string {
	if !strings.HasPrefix(name, "arn:") {
		return name
	}
	if _, after, ok := strings.Cut(name, ":table/"); ok {
		name, _, _ = strings.Cut(after, "/")
	}
	return name
}
