package dynamoapi

import "strings"

// ARNs of what the API has:
//
//	arn:aws:dynamodb:region:account:table/name
//	arn:aws:dynamodb:region:account:table/name/index/index
//	arn:aws:dynamodb:region:account:table/name/stream/label

// noAccount stands in ARNs where no account was configured; nobody has it.
const noAccount = "000000000000"

func (c Config) tableARN(table string) string {
	return "arn:aws:dynamodb:" + c.Region + ":" + c.Account + ":table/" + table
}

func (c Config) indexARN(table, index string) string { return c.tableARN(table) + "/index/" + index }

func (c Config) streamARN(table, label string) string { return c.tableARN(table) + "/stream/" + label }

// resource returns what an ARN of DynamoDB names behind "table/": "name", "name/stream/label". Region and account may be
// any: a client's configuration has some, and there is but one here.
func resource(arn string) (name string, ok bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "dynamodb" || parts[3] == "" || !isAccount(parts[4]) {
		return "", false
	}
	return strings.CutPrefix(parts[5], "table/")
}

func isAccount(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// tableOfARN returns the name of a table by its ARN.
func tableOfARN(arn string) (table string, ok bool) {
	table, ok = resource(arn)
	return table, ok && isName(table) && len(table) >= minTableName && len(table) <= maxTableName
}

// streamOfARN returns the table's name and the label of a stream by its ARN.
func streamOfARN(arn string) (table, label string, ok bool) {
	name, ok := resource(arn)
	if !ok {
		return "", "", false
	}
	table, label, ok = strings.Cut(name, "/stream/")
	return table, label, ok && isName(table) && label != "" && !strings.Contains(label, "/")
}

// tableName returns the name of a table that a request calls by its name or its ARN
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
