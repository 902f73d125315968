//go:build !unix

package disk

import (
	"os"
	"time"
)

// LockFile does nothing: bbolt takes the lock.
func LockFile(*os.File, time.Duration) error { return nil }

// KeepOwner does nothing on these systems.
func KeepOwner(*os.File, string) {}
