package disk

import (
	"os"
)

// MemoryName is used in place of a path for stores in memory.
const MemoryName = "memory"

// MemoryFile returns an empty file for this process alone. Call remove after closing it.
func MemoryFile() (f *os.File, remove func(), err error) {
	if f, err := anonymousFile(MemoryName); err == nil {
		return f, func() {}, nil
	}
	return TemporaryFile()
}

// TemporaryFile is MemoryFile on disk.
func TemporaryFile() (f *os.File, remove func(), err error) {
	f, err = os.CreateTemp("", "touchline-*.db")
	if err != nil {
		return nil, nil, err
	}
	if os.Remove(f.Name()) == nil {
		return f, func() {}, nil
	}
	return f, func() { _ = os.Remove(f.Name()) }, nil
}
