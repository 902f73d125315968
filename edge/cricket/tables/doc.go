// Package tables declares cricket's tables: their names, keys and policies, the keys of their rows and of the locks, and
// how rows are read and written whose layout others may change.
package tables
