// Package replica keeps a store and a cloud in sync: local writes go out as the operations they were, exactly once, and the writes of
// others come in. Package intent decides what to send and what an answer means; this package keeps the queue, the bases and the
// records, and decides when. DESIGN.md describes the guarantees and the effects of a crash.
package replica
