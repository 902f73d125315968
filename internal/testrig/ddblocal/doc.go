// Package ddblocal runs DynamoDB Local, Amazon's version of DynamoDB for tests, so that tests can compare our store with it. It is
// fetched from Maven on first use and then kept in the user's cache folder.
//
// DynamoDB Local has no bind address: it listens on every address of its machine. So on Linux, if the process may (as root), it runs in a
// network namespace of its own, and a relay on loopback leads into it. Elsewhere it listens on a random port during the test.
package ddblocal
