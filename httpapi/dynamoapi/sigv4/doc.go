// Package sigv4 says who sent a request, by AWS Signature Version 4, and what they may do. It knows nothing of the
// operations: a server calls Verifier.Verify with the request and the hash of its body, and Principal.Allow for each
// table that the request touches.
//
// # Keys
//
// The keys, and what each may do, are in a file:
//
//	regions: [us-east-1]            # of which requests may be signed; absent: of any
//	keys:
//	  - access_key: AKIDSCOREBOARD
//	    secret_file: scoreboard.key # beside this file; or secret: ...
//	    allow:
//	      - tables: ["Scores", "Score*"]
//	        actions: [read, PutItem]
//	      - tables: ["*"]
//	        actions: [ListTables]
//
// Tables and actions may hold asterisks, which stand for any text. A table stands for its indexes and its stream too,
// other than in IAM, where they are resources of their own. An action has the name that it has in IAM, with or without
// "dynamodb:" before it, or is a group:
//
//	read   GetItem, BatchGetItem, Query, Scan, ConditionCheckItem, PartiQLSelect, and what describes and lists, streams too
//	write  PutItem, UpdateItem, DeleteItem, BatchWriteItem, ConditionCheckItem, PartiQLInsert, PartiQLUpdate, PartiQLDelete
//	admin  CreateTable, UpdateTable, DeleteTable, UpdateTimeToLive, TagResource, UntagResource
//
// As in IAM, BatchGetItem and BatchWriteItem have permissions of their own, and transactions have none: their parts need
// GetItem, PutItem, UpdateItem, DeleteItem and ConditionCheckItem, and PartiQL needs PartiQLSelect, -Insert, -Update and
// -Delete, each on its own table. What is about no table (ListTables, DescribeLimits, DescribeEndpoints, ListStreams of
// all tables) needs its action on all tables, that is, on "*"; ListTables then shows all, and is refused otherwise.
//
// # What is verified
//
// The header Authorization with AWS4-HMAC-SHA256, or the same in the query (a presigned URL), over the method, the path,
// the query, the signed headers and the body. Host and all headers that begin with X-Amz- must be signed. The time of
// the request, X-Amz-Date or Date, may be 15 minutes off. Keys are for good: a request with a token of temporary
// credentials (X-Amz-Security-Token) is refused, as the service refuses one that it did not give out. A body that is not
// signed (X-Amz-Content-Sha256: UNSIGNED-PAYLOAD) is refused: without TLS anybody on the way could change it.
//
// The order in which a request with several faults is refused, and the words, are those of the service.
package sigv4
