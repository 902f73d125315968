//go:build !linux

package store_test

import "os"

func syncData(f *os.File) error { return f.Sync() }
