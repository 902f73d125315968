//go:build !unix

package disk

import (
	"os"
	"time"
)

// LockFile leaves the lock to bbolt.
func LockFile(*os.File, time.Duration) error { return nil }

// KeepOwner leaves owners to the system.
func KeepOwner(*os.File, string) {}
