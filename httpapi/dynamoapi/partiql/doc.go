// Package partiql compiles DynamoDB's PartiQL to operations of a store: reads by key, queries and scans for a SELECT, and a conditional
// write for other statements, with the expressions of store/expr.
//
// Parse parses a text and knows nothing of tables. The result is compiled with the request's parameters and the table's keys: Read,
// SingleItem, Write. Nothing here accesses a store. What DynamoDB refuses is refused with a fault of kind Invalid, code "validation"
// and DynamoDB's words.
//
// The source of the rules is "PartiQL - a SQL-compatible query language for Amazon DynamoDB" in the developer guide. Where it is
// silent: answers recorded from the service and from DynamoDB Local. DIFFERENCES.md lists differences.
package partiql
