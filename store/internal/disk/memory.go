package disk

import (
	"os"
)

// MemoryName stands where a store in memory would have a path.
const MemoryName = "memory"

// MemoryFile returns an empty file for this process alone; remove is called when it is closed.
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
