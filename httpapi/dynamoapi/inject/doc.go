// Package inject answers some requests with the faults that DynamoDB has in production and a node on the same machine
// never has, for people who test how their own software bears them. A server asks Injector.Decide what is to happen to a
// request; without an Injector, or without rules, that costs nothing.
//
// # Rules
//
// Rules are a YAML or JSON file, or are set at run time:
//
//	seed: 7
//	rules:
//	  - kind: throttle
//	    tables: ["Scores"]            # names with * for any text; absent: all, and requests about no table
//	    operations: [PutItem, Batch*] # absent: all that the kind can be about
//	    probability: 0.05             # of each request; or every: 20; neither: always
//	    count: 100                    # no more often than that; absent: without end
//
// The kinds, and what more they take:
//
//	throttle              error: ProvisionedThroughputExceededException (also if absent), ThrottlingException or
//	                      RequestLimitExceeded
//	error-500             InternalServerError. Nothing was done, which a client cannot know
//	transaction-conflict  TransactWriteItems, TransactGetItems and ExecuteTransaction are cancelled because of one of their
//	                      items; PutItem, UpdateItem and DeleteItem get a TransactionConflictException
//	unprocessed           BatchGetItem and BatchWriteItem leave a part of what they are asked for: share: 0.5 (half, if
//	                      absent), at least one. The service answers a batch of which it does nothing with a throttle
//	stale-index           delay: 500ms: Query, Scan and SELECT see the global indexes as they were that long ago
//	latency               latency: 50ms before the request is done, or between that and latency_max: 200ms
//	drop-request          the connection is closed and nothing done
//	drop-answer           the request is done and the connection closed without the answer
//
// For each request the rules are gone through in their order. Several may have their part in it, until one of throttle,
// error-500, transaction-conflict and drop-request ends it; those behind that one do not see the request.
//
// Each rule has its own chance, which begins with the seed and the rule's name: (name: ..., or "rule 1" for the first).
// So the same requests in the same order meet the same faults, in each run and whatever the other rules are, as long as
// no other rule ends a request before. Rules that are set anew, by a file with other content too, begin anew.
package inject
