// Package replica keeps a store and a cloud one: local writes go out as the operations they were, exactly once, and what
// others have written comes in. What is sent, and what an answer means, is package intent's; this one keeps the queue, the
// bases and the records, and decides when. DESIGN.md says what holds and what a crash does here.
package replica
