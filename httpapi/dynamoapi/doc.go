// Package dynamoapi answers DynamoDB's wire protocol (AWS JSON 1.0 over HTTP) from a store, so that a program written for
// DynamoDB works at the edge by changing its endpoint.
//
// A request goes one way: the server reads it (limits, gzip), finds out who is asking, finds the operation by its name,
// decodes the body into the operation's own struct, lists what breaks the API's model, makes the operation's own checks in
// DynamoDB's order, and runs it in one transaction of the store; the answer is appended as JSON on the way. One file is one
// operation; operations is the table of them all.
package dynamoapi
