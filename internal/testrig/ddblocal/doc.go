// Package ddblocal runs DynamoDB Local, Amazon's own version of DynamoDB for tests, so that tests can hold our store
// against it. It comes from Maven the first time and lies in the user's cache folder from then on.
//
// It listens on every address of its machine and cannot be told otherwise, so on Linux, where the process may do that
// (root), it gets a network namespace of its own that only this process dials into. Elsewhere it has a random port for
// the time of the test.
package ddblocal
