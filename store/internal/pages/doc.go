// Package pages reads the pages of a bbolt file without bbolt, which trusts its file. It verifies a file before bbolt opens it.
package pages
