// Package dynamo speaks to DynamoDB, or to what speaks its protocol, for the rest of the node: it is the cloud of
// sync/replica, the locks table of sync/lease and the catalogue of cloud tables, and the only importer of the AWS SDK.
//
// A call is one request with a deadline. Nothing is repeated here, for only the caller knows what a repetition means;
// instead every error is sorted, once, by what it tells about the call (intent.Class).
package dynamo
