// Package outbox stores a node's writes on their way to the cloud, and what is known of their items: batches of entries by worker and
// sequence, the queue and last known remote image of each item, and the log of what the cloud has accepted. It makes no requests
// and no decisions; package intent decides. Transactions change it only through Work.
//
//	outbox        worker 3, seq 17: entry "SET n = n + 1" on item a
//	shadow        item a: base {n: 4}, sidecar {_c, _n, ...}, pending [17]
//	row of a      {n: 5}: the base with the pending entries applied
package outbox
