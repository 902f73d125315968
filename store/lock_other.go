//go:build !unix

package store

import (
	"os"
	"time"
)

// lockFile leaves the lock to bbolt.
func lockFile(*os.File, time.Duration) error { return nil }
