// Package file opens a store's file: it is made, locked, verified, compacted if that pays, and given to bbolt.
package file
