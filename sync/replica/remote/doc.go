// Package remote is what the replicator asks of a cloud: the calls that DynamoDB has, what else a cloud may tell of itself, and
// what its errors mean.
package remote
