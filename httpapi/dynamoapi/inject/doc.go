// Package inject injects faults that DynamoDB has in production and a local node never has, for testing how clients cope with them. A
// server calls Injector.Decide for each request; without an Injector or without rules that costs nothing.
//
// # Rules
//
// Rules are in a YAML or JSON file, or set at run time:
//
//	seed: 7
//	rules:
//	  - kind: throttle
//	    tables: ["Scores"]            # names with * for any text; absent: all, and requests about no table
//	    operations: [PutItem, Batch*] # absent: all to which the kind applies
//	    probability: 0.05             # of each request; or every: 20; neither: always
//	    count: 100                    # at most this often; absent: unlimited
//
// The kinds, with their additional fields:
//
//	throttle              error: ProvisionedThroughputExceededException (the default), ThrottlingException or
//	                      RequestLimitExceeded
//	error-500             InternalServerError. Nothing was done, but the client cannot know that
//	transaction-conflict  TransactWriteItems, TransactGetItems and ExecuteTransaction are cancelled because of one of their
//	                      items; PutItem, UpdateItem and DeleteItem get a TransactionConflictException
//	unprocessed           BatchGetItem and BatchWriteItem leave a part of the batch: share: 0.5 (the default), at least
//	                      one item. If the service processes nothing of a batch, it throttles it instead
//	stale-index           delay: 500ms: Query, Scan and SELECT see global indexes as they were that long ago
//	latency               latency: 50ms before the request is processed; with latency_max: 200ms a random time between them
//	drop-request          the connection is closed and nothing is done
//	drop-answer           the request is processed, and the connection closed without an answer
//
// Each request goes through the rules in order. Several may apply, until one of throttle, error-500, transaction-conflict and
// drop-request ends it; later rules do not see the request.
//
// Each rule has its own random sequence, derived from the seed and the rule's place in the list. So the same requests in the same order
// meet the same faults in each run, whatever the other rules say, unless an earlier rule ends a request or the rule has another place.
// Setting rules again, also by a changed file, starts the sequences anew.
package inject
