// Package idempotency stores the row that makes a request take effect once. The row maps the Idempotency-Key, which the client made, to
// the outcome of the first request with that key. It is written in the transaction of that request's writes, so that both exist or
// neither does. That also holds in the cloud, where the row of one node makes the same request of another node fail.
package idempotency
