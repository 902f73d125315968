// Package outbox is what a node keeps of its writes on their way to the cloud, and of the items that they are about: batches of
// entries by lane and sequence, the queue and the last known remote image of each item, and the log of what the cloud has taken.
// It asks nobody and decides nothing: the decisions are package intent's. Work is the one way in which a transaction changes it.
//
//	outbox        lane 3, seq 17: entry "SET n = n + 1" on item a
//	shadow        item a: base {n: 4}, sidecar {_c, _n, ...}, pending [17]
//	row of a      {n: 5}: the base with the pending entries applied
package outbox
