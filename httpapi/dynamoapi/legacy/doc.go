// Package legacy turns the parameters of DynamoDB's API from before there were expressions (Expected, AttributeUpdates,
// KeyConditions, QueryFilter, ScanFilter, AttributesToGet) into expressions that mean the same, and refuses what the
// service refuses of them, in its words and order. It is pure: a request's other parameters, its table and its items are
// none of its concern.
package legacy
