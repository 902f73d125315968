package store

import (
	"os"

	bolt "go.etcd.io/bbolt"
)

// memoryName stands where a store in memory would have a path.
const memoryName = "memory"

// The journal of a store in memory takes of it.
const (
	memoryJournal = 1 << 20
	memoryStream  = 256 << 20
)

// OpenMemory makes an empty store that is gone when it is closed or the process ends, however it ends. On Linux it is
// nowhere on disk. Where there is no memory to be had as a file it is a temporary one, without a name as soon as the
// system allows that: on Windows it has one until Close.
//
// It does all that others do. Nothing is synced; Options.MaxSize bounds the memory; JournalBytes is 1 MiB unless it is
// given, StreamBytes 256 MiB; Path is empty.
func OpenMemory(o Options) (*Store, error) {
	o.NoSync = true
	o.JournalBytes = orElse(o.JournalBytes, memoryJournal)
	o.StreamBytes = orElse(o.StreamBytes, memoryStream)
	o = o.withDefaults()
	return openUnnamed(memoryFile, o)
}

// openUnnamed makes a store in a file of its own.
func openUnnamed(newFile func() (*os.File, func(), error), o Options) (*Store, error) {
	f, remove, err := newFile()
	if err != nil {
		return nil, cannotOpen(memoryName, err)
	}
	s, err := startEmpty(f, o)
	if err != nil {
		_ = f.Close() // unless bbolt has
		remove()
		return nil, err
	}
	s.remove = remove
	return s, nil
}

// startEmpty makes a store of an empty file that has no name.
func startEmpty(f *os.File, o Options) (*Store, error) {
	db, err := openBolt(f, o)
	if err != nil {
		return nil, cannotOpen(memoryName, err)
	}
	if err := db.Update(func(btx *bolt.Tx) error { return writeMeta(btx, newIdentity(o)) }); err != nil {
		_ = db.Close()
		return nil, cannotOpen(memoryName, err)
	}
	s, err := start("", db, f, o)
	if err != nil {
		_ = db.Close()
	}
	return s, err
}

// memoryFile returns an empty file for this process alone; remove is called when it is closed.
func memoryFile() (f *os.File, remove func(), err error) {
	if f, err := anonymousFile(memoryName); err == nil {
		return f, func() {}, nil
	}
	return temporaryFile()
}

// temporaryFile is memoryFile on disk.
func temporaryFile() (f *os.File, remove func(), err error) {
	f, err = os.CreateTemp("", "touchline-*.db")
	if err != nil {
		return nil, nil, err
	}
	if os.Remove(f.Name()) == nil {
		return f, func() {}, nil
	}
	return f, func() { _ = os.Remove(f.Name()) }, nil
}
