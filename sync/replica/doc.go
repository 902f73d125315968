// Package replica keeps a store and a cloud in sync: local writes go out as the operations they were, exactly once, and what
// others have written comes in. Package intent decides what is sent and what an answer means; this one keeps the queue, the
// bases and the records, and decides when. DESIGN.md has the guarantees, and what a crash does here.
package replica
