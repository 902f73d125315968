// Package remote defines what the replicator asks of a cloud: DynamoDB's calls, optional information that a cloud may provide about
// itself, and what its errors mean.
package remote
