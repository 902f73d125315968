package main

import (
	"os"
	"runtime/debug"
)

// Garbage collector settings for thousands of requests per second. The live heap is a few megabytes, so Go's default, a collection at
// every doubling, takes a third of the CPU. At five times the live heap it takes a tenth, for about 15 MB more memory. Near the limit
// collections become more frequent, at any cost.
const (
	busyPercent = 400
	nodeLimit   = 64 << 20 // for the endpoint in a node
	aloneLimit  = 20 << 20 // keeps the process, with its code and the mapped database, below 64 MB
)

// collectLess configures the garbage collector for many requests, unless the operator configured it.
func collectLess(limit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(busyPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
