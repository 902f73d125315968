//go:build !linux

package store

// freeSpace is not asked on other systems: a full disk is met when it is full.
func freeSpace(string) (bytes int64, known bool) { return 0, false }

func isNoSpace(error) bool { return false }
