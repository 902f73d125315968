// Package file opens the file of a store: it creates, locks, verifies and compacts it as needed and opens it with bbolt.
package file
