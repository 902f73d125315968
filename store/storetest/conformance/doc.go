// Package conformance has DynamoDB's answers to some thousand requests, and checks an implementation against them: our API, DynamoDB
// Local, or anything else that accepts DynamoDB's requests (see Target).
//
// The requests and their answers are in testdata, one file for each area:
//
//	table {"TableName":"tab",...}     a CreateTable request; every case begins with these tables, empty
//
//	case what it is about
//	PutItem {"TableName":"tab",...}   an operation and its request, continued on indented lines
//	= {"Attributes":...}              the answer
//	GetItem {...}
//	! ValidationException: One or...  or the error; its other fields follow on an indented line
//
// The answers are those of DynamoDB Local, recorded by
//
//	go test -tags long -run Recorded ./httpapi/dynamoapi -update
//
// and reviewed before they are kept. Where our API deliberately answers differently, or DynamoDB Local differs from DynamoDB, two lines
// follow: which of the two agrees with DynamoDB's documentation ("ours", "local", "both" or "neither") and why, and our answer. All of
// them are listed in store/storetest/DIFFERENCES.md.
//
//	differs ours: DynamoDB refuses ...
//	ours ! ValidationException: ...
//
// An operation may have modes: "Query/all" requests all pages and joins them, "Query/pages" shows each, "/set" says that the order of the
// items is undefined (it always is for a Scan and a BatchGetItem), "Scan/segments" requests all segments, "BatchGetItem/count" counts
// items and keys where it is undefined which are returned. "PutItem*30" is sent thirty times, with %n (or %04n) counting from 1. "wait"
// calls DescribeTable until the table and its indexes no longer change. %{x*400} stands for x four hundred times, in requests and in
// answers; %[name] in requests stands for the text of a line "let name ..." above the cases.
//
// Random generates sequences of requests and compares two targets.
package conformance
