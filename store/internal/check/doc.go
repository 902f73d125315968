// Package check verifies everything in a file against the guarantees of the store.
package check
