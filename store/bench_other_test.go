//go:build !linux

package store_test

import (
	"os"
	"time"
)

func syncData(f *os.File) error { return f.Sync() }

// cpuTime is unknown on this system.
func cpuTime() time.Duration { return 0 }
