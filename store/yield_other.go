//go:build !linux

package store

func yieldProcessor() {}
