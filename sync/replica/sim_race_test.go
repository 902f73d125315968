//go:build race

package replica_test

const simDefault = 1
