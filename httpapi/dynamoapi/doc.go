// Package dynamoapi answers DynamoDB's wire protocol (AWS JSON 1.0 over HTTP) from a store, so that a program written for
// DynamoDB works at the edge by changing its endpoint.
//
// A request goes one way: the server reads it (limits, gzip), finds out who is asking, finds the operation by its name,
// decodes the body into the operation's own struct, lists what breaks the API's model, asks whether the caller may do that,
// has faults on demand happen, makes the operation's own checks in DynamoDB's order, and runs it in one transaction of the
// store; the answer is appended as JSON. DESIGN.md says why, and what holds.
//
// Where to begin: api.go is that way, operation.go the table of all operations and what each of them is, get_item.go the
// simplest of them. docs/ARCHITECTURE.md says where a new operation goes. Operations that share their members are in one
// file:
//
//	server, body, reset, metrics         HTTP
//	call, constraints, errors, faults    what every operation works with
//	params, legacy, capacity             what requests about items have in common: expressions, and what was consumed
//	write_item, get_item, query          one item; a page of them
//	batch_*, transact_items              many items
//	execute_*, partiql_*                 statements
//	create_table, update_table, table_*  tables as a whole; describe_table has the short ones
//	time_to_live, tags                   what is said of a table
//	describe_stream, get_*               streams
package dynamoapi
