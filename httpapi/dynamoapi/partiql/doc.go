// Package partiql reads DynamoDB's PartiQL and makes of a statement what a store can do: reads by a key, queries and scans
// for a SELECT, and a write with its condition for the rest, all of them with the expressions of store/expr.
//
// Parse reads a text and knows nothing of tables. What it returns is compiled with the parameters of the request and the keys
// of the table: Read, SingleItem, Write. Nothing here touches a store. What DynamoDB refuses is refused, with a
// fault of kind Invalid, code "validation" and DynamoDB's words.
//
// The source of the rules is "PartiQL - a SQL-compatible query language for Amazon DynamoDB" in the developer guide; where it
// is silent, answers recorded from the service and from DynamoDB Local. DIFFERENCES.md has what differs.
package partiql
