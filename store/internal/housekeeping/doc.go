// Package housekeeping does background work in slices: it fills new indexes, empties dropped ones, deletes expired items, and
// verifies all items once a day.
package housekeeping
