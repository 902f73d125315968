// Package sigv4 authenticates requests by AWS Signature Version 4, and checks permissions. It knows nothing of the operations: a server
// calls Verifier.Verify with the request and the hash of its body, and Principal.Allow for each table that the request uses.
//
// # Keys
//
// The keys and their permissions are in a file:
//
//	keys:
//	  - access_key: AKIDSCOREBOARD
//	    secret_file: scoreboard.key # in the directory of this file; or secret: ...
//	    allow:
//	      - tables: ["Scores", "Score*"]
//	        actions: [read, PutItem]
//	      - tables: ["*"]
//	        actions: [ListTables]
//
// In tables and actions * stands for any text. A table includes its indexes and its stream, unlike in IAM, where they are separate
// resources. An action has its IAM name, with or without "dynamodb:", or is a group:
//
//	read   GetItem, BatchGetItem, Query, Scan, ConditionCheckItem, PartiQLSelect, and everything that describes or lists, including streams
//	write  PutItem, UpdateItem, DeleteItem, BatchWriteItem, ConditionCheckItem, PartiQLInsert, PartiQLUpdate, PartiQLDelete
//	admin  CreateTable, UpdateTable, DeleteTable, UpdateTimeToLive, TagResource, UntagResource
//
// As in IAM, BatchGetItem and BatchWriteItem have permissions of their own, and transactions have none: their parts need GetItem,
// PutItem, UpdateItem, DeleteItem and ConditionCheckItem, and PartiQL needs PartiQLSelect, -Insert, -Update and -Delete, each on its
// own table. Requests about no table (ListTables, DescribeLimits, DescribeEndpoints, ListStreams of all tables) need their action on
// all tables, that is, on "*". ListTables then shows all of them, and is refused otherwise.
//
// # What is verified
//
// The Authorization header with AWS4-HMAC-SHA256, over the method, path, query, signed headers and body; presigned URLs are not accepted.
// Host and all X-Amz- headers must be signed. The request's time, X-Amz-Date or Date, may be off by 15 minutes, and its region may be any.
// Keys are permanent: a request with a session token of temporary credentials (X-Amz-Security-Token) is refused, as the service refuses
// one that it did not issue. An unsigned body (X-Amz-Content-Sha256: UNSIGNED-PAYLOAD) is refused: without TLS anybody on the way could
// change it.
//
// For requests with several errors, the order of refusals and the words are the service's.
package sigv4
