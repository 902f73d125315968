// Package dynamo talks to DynamoDB, or to servers that speak its protocol, for the rest of the node. It is the cloud of
// sync/replica, the locks table of sync/lease and the catalogue of cloud tables, and the only importer of the AWS SDK.
//
// A call is one request with a deadline. Nothing is retried here, because only the caller knows what a retry means. Instead
// every error gets one class, which says what the error proves about the call (intent.Class).
package dynamo
