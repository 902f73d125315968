//go:build !linux

package store

import (
	"os"

	bolt "go.etcd.io/bbolt"
)

// forget has nothing to say to other systems.
func forget(*bolt.DB, *os.File) {}
