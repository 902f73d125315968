// Package conformance says what DynamoDB answers to some thousand requests, and holds an implementation to it: our
// API, DynamoDB Local, or whatever else takes DynamoDB's requests (see Target).
//
// The requests and the answers to them lie in testdata, an area a file:
//
//	table {"TableName":"tab",...}     a CreateTable request; every case begins with these tables, empty
//	case what it is about
//	PutItem {"TableName":"tab",...}   an operation and its request, the rest of it on indented lines
//	= {"Attributes":...}              the answer
//	GetItem {...}
//	! ValidationException: One or...  or the refusal, and on an indented line what else it holds
//
// The answers are DynamoDB Local's, recorded by
//
//	go test -tags long -run Recorded ./httpapi/dynamoapi -update
//
// and read by a person before they are kept. Where ours answers otherwise on purpose, or DynamoDB Local is not
// like DynamoDB, two lines follow that say which of the two agrees with DynamoDB's documentation ("ours", "local",
// "both" or "neither") and why, and what ours answers. All of them are listed in store/storetest/DIFFERENCES.md.
//
//	differs ours: DynamoDB refuses ...
//	ours ! ValidationException: ...
//
// An operation may have modes: "Query/all" asks for all pages and joins them, "Query/pages" shows each, "/set" says that
// the order of the items is undefined (of a Scan and of a BatchGetItem it always is), "Scan/segments" asks for all
// segments, "BatchGetItem/count" counts items and keys where which of them come is undefined. "PutItem*30" is sent thirty times, with %n (or %04n) counting from 1. "wait" asks DescribeTable until the
// table and its indexes are no longer changing. %{x*400} stands for x four hundred times, in requests and in answers,
// and %[name] in requests for what a line "let name ..." above the cases says.
//
// Random makes sequences of requests up and compares two targets.
package conformance
