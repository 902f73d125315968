package file

import (
	"cmp"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/disk"
)

// The journal limits of a store in memory, in bytes.
const (
	memoryJournal = 1 << 20
	memoryStream  = 256 << 20
)

// MemoryOptions returns o with the defaults of a store in memory.
func MemoryOptions(o Options) Options {
	o.NoSync = true
	o.JournalBytes = cmp.Or(o.JournalBytes, memoryJournal)
	o.StreamBytes = cmp.Or(o.StreamBytes, memoryStream)
	return o.WithDefaults()
}

// OpenUnnamed creates an empty store in a file from newFile.
func OpenUnnamed(newFile func() (*os.File, func(), error), o Options) (*File, error) {
	f, remove, err := newFile()
	if err != nil {
		return nil, cannotOpen(disk.MemoryName, err)
	}
	out := &File{F: f, Remove: remove}
	if err := out.fill(o); err != nil {
		_ = f.Close() // bbolt may have closed it
		remove()
		return nil, cannotOpen(disk.MemoryName, err)
	}
	return out, nil
}

// fill writes the content of an empty store.
func (f *File) fill(o Options) (err error) {
	if f.Bolt, err = openBolt(f.F, o); err != nil {
		return err
	}
	err = f.Bolt.Update(func(btx *bolt.Tx) error { return writeMeta(btx, newIdentity(o)) })
	if err == nil {
		err = f.readState()
	}
	if err != nil {
		_ = f.Bolt.Close()
	}
	return err
}
