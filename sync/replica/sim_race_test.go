//go:build race

package replica_test

const simDefault, simTwice = 1, 1
