// Package legacy converts the parameters of DynamoDB's API that predate expressions (Expected, AttributeUpdates, KeyConditions,
// QueryFilter, ScanFilter, AttributesToGet) to equivalent expressions, and refuses what the service refuses, in its words and order. It
// knows nothing of a request's other parameters, its table or its items.
package legacy
