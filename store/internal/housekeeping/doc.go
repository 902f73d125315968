// Package housekeeping does what nobody waits for, in slices: it fills new indexes, empties dropped ones, deletes items past their
// TTL, forgets old tokens, and verifies all items once a day.
package housekeeping
