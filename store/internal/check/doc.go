// Package check compares everything in a file with what the store promises of it.
package check
