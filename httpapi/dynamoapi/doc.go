// Package dynamoapi answers DynamoDB's wire protocol (AWS JSON 1.0 over HTTP) from a store, so that a program written for
// DynamoDB works at the edge by changing its endpoint.
//
// A request goes one way: the server reads it (limits, gzip), finds out who is asking, finds the operation by its name,
// decodes the body into the operation's own struct, lists what breaks the API's model, asks whether the caller may do that,
// has faults on demand happen, makes the operation's own checks in DynamoDB's order, and runs it in one transaction of the
// store; the answer is appended as JSON. DESIGN.md says why, and what holds.
//
// Where to begin: api.go is that way, operation.go the table of all operations and what each of them is, put_item.go one of
// them. One file is one operation; what several share lies beside them:
//
//	server, body, send, metrics      HTTP
//	access, faults                   who may do what; faults on demand
//	call, arn, constraints, errors   what every operation works with
//	params, legacy, writing, reading, batch   the parameters of requests about items
//	capacity, ledger, collection_*   what a request consumed
//	table_*                          operations on tables as a whole
//	stream_*                         operations on streams
//	partiql_*                        operations on statements
package dynamoapi
