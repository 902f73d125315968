// Package pages reads and writes the pages of a bbolt file without bbolt, which trusts its file. It verifies a file before bbolt opens
// it, and writes the copy of a snapshot.
package pages
