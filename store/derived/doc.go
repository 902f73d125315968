// Package derived keeps rows that a program computes from facts, for other readers of its table: the points of a prediction, the tallies
// of a game. People's facts are written by whoever has them; a derived row is written again whenever its facts change, and so it must
// never be written over what somebody else has counted, or from half of the facts.
//
//	facts ──(journal)──> Rule.Units ──> Rule.Sources ──> read whole? ── no ──> nothing is derived: the Status page says what it waits for
//	                                                          │
//	                                                         yes
//	                                                          v
//	                                     Rule.Read: each row as it is, and as the facts say
//	                                                          │
//	             ┌──────────────────────┬─────────────────────┴───────────────────────┐
//	           equal            this program's own                            anybody else's
//	             │                      │                                             │
//	      nothing to write     written, on condition that          left as it is: a line on the Status page, and a
//	                           it is still as it was read          person may have it recounted (Rule.Adopt)
//
// A row is this program's own if that can be proved: it carries the signature By, made from its key and the values as they are; or this
// run has seen it with these values when they were what it would have written itself; or nothing has been counted into it yet. A row that
// another program has changed since has another value, so its signature no longer fits. Rows of versions of this program without the
// signature are proved in the second way if they are right, and otherwise wait for a person.
package derived
