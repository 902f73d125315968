// Package txn runs transactions on an open file: group commit with an undo log for each member, snapshots for readers, the journal, and
// changes of rows, index entries and tables.
package txn
