// Package format defines the contents of the file: bucket names, rows, journal records and tokens, with their versions and checksums.
package format
