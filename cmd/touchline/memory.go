package main

import (
	"os"
	"runtime/debug"
)

// What the garbage collector is told where requests come by the thousand. What lives is some megabytes: a collection at
// every doubling, which is Go's default, takes a third of the processor; at five times as much it takes a tenth, for
// about 15 MB more. Above the limit it collects more often, whatever that costs.
const (
	busyPercent = 400
	nodeLimit   = 64 << 20 // with a node around the endpoint
	aloneLimit  = 20 << 20 // the process stays below 64 MB with its code and the pages of its file
)

// collectLess sets the garbage collector up for requests by the thousand, unless the operator has set it up himself.
func collectLess(limit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(busyPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
