// Package txn runs transactions on an open file: group commit with an undo log for each member, snapshots for readers, the journal,
// and the changes of rows, index entries and tables that a transaction makes.
package txn
