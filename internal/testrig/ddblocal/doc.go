// Package ddblocal runs DynamoDB Local, Amazon's version of DynamoDB for tests, so that tests can compare our store with it. It is
// fetched from Maven on first use and then kept in the user's cache folder.
//
// DynamoDB Local has no bind address: during the test it listens on every address of the machine, on a random port.
package ddblocal
