//go:build !linux

package txn

func yieldProcessor() {}
