// Package dynamoapi serves DynamoDB's wire protocol (AWS JSON 1.0 over HTTP) from a store, so that a program written for DynamoDB works
// at the edge with another endpoint.
//
// A request takes these steps: the server reads it (limits, gzip), authenticates the sender, finds the operation by name, decodes the
// body into the operation's struct, lists violations of the API's model, checks the sender's permission, applies injected faults, makes
// the operation's own checks in DynamoDB's order, and runs it in one transaction of the store. The answer is appended as JSON.
// DESIGN.md has the reasons and guarantees.
//
// Where to start: api.go has these steps, operation.go the table of operations and their interface, get_item.go is the simplest one.
// docs/ARCHITECTURE.md says where a new operation goes. Operations that share members share a file:
//
//	server, body, reset, metrics         HTTP
//	call, constraints, errors, faults    what every operation uses
//	params, legacy, capacity             common to item requests: expressions and consumed capacity
//	write_item, get_item, query          one item; a page of items
//	batch_*, transact_items              many items
//	execute_*, partiql_*                 statements
//	create_table, update_table, table_*  tables; describe_table has the short operations
//	time_to_live, tags                   properties of a table
//	describe_stream, get_*               streams
package dynamoapi
