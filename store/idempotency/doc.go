// Package idempotency has the row by which a request takes effect once: its Idempotency-Key, which the client has made, leads to
// what came of the first request that carried it. The row is written in the transaction of what it stands for, so that both
// are there or neither is, also in the cloud, where the row of another node is in the way of this one's.
package idempotency
