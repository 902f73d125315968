// Package tables declares cricket's tables: names, keys and policies, the keys of rows and locks, and helpers
// for rows that other programs may change.
package tables
