// Package format is what lies in the file: the names of its buckets, rows, journal records and tokens, with their versions and
// checksums.
package format
