// Package pages reads and writes the pages of a bbolt file without bbolt, which trusts its file: it verifies a file before bbolt
// sees it, and writes the copy of a snapshot.
package pages
