//go:build unix

package simdisk

import (
	"errors"
	"hash"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Kind is the type of a Fault.
type Kind uint8

// The types of faults.
const (
	NoFault    Kind = iota
	PowerFails      // nothing works any more; a write in progress may be partly done
	WriteFails      // EIO, nothing is written
	WriteStops      // EIO in the middle of a write
	WriteFull       // ENOSPC in the middle of a write, as on a copy-on-write file system
	SyncFails       // EIO, and the unsynced data is lost or not; the next sync does not notice
	AllocFails      // EIO on an allocation, or on writing zeros in its place
)

// Fault happens once, at the first matching operation from number At on.
type Fault struct {
	Kind Kind
	At   int // counted from 1 by Seen.Ops
}

// Seen counts the operations of a Disk.
type Seen struct {
	Ops                          int    // operations
	Trace                        uint64 // a hash of all operations, with position and length: equal for runs that did the same
	Tripped                      bool   // the fault has happened
	Writes, Syncs, Allocs, Names int    // successful operations
	Full                         int    // refused for lack of space
	MetaSyncs, DataSyncs         int    // failed ones: after a write of the first two pages, after others
	Torn                         int    // writes of which a part survived a power cut
	Lost                         int    // sectors lost in a power cut
}

// Disk is the disk of one folder. Its methods may be called from any goroutine.
type Disk struct {
	root string
	real Real

	mu       sync.Mutex
	rng      *rand.Rand
	fault    Fault
	capacity int64 // 0: unlimited
	used     int64
	now      int // number of changes: a power cut orders them by it
	off      bool
	inodes   map[uint64]*inode // by the inode number of the real file
	live     map[string]*inode // by path
	durable  map[string]*inode
	changes  []change
	lastMeta bool
	seen     Seen
	trace    hash.Hash64
}

// change is an unsynced change of a folder.
type change struct {
	at     int
	folder string
	add    string
	remove string
	node   *inode
}

// Real has the operations themselves, without the simulation.
type Real struct {
	Write    func(f *os.File, b []byte, off int64) (int, error)
	Truncate func(f *os.File, size int64) error
	Open     func(name string, flag int, perm fs.FileMode) (*os.File, error)
	Rename   func(from, to string) error
	Link     func(from, to string) error
	Remove   func(name string) error
	Mkdir    func(name string, perm fs.FileMode) error
}

// New returns a disk with the current content of the folder, all of it on disk.
func New(root string, seed uint64, system Real) (*Disk, error) {
	d := &Disk{
		root: root, real: system, rng: rand.New(rand.NewPCG(seed, 0xd15c)), trace: fnv.New64a(),
		inodes: map[uint64]*inode{}, live: map[string]*inode{}, durable: map[string]*inode{},
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		node := d.inodes[number(info)]
		if node == nil {
			node = &inode{folder: e.IsDir(), dirty: map[int64][]version{}, blocks: map[int64]bool{}}
			if !e.IsDir() {
				if node.data, err = os.ReadFile(path); err != nil { //nolint:gosec // G122: the folder is the test's own
					return err
				}
				node.durable = append([]byte(nil), node.data...)
				d.used += node.occupy(0, int64(len(node.data)))
			}
			d.inodes[number(info)] = node
		}
		d.live[path], d.durable[path] = node, node
		return nil
	})
	return d, err
}

func number(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// SetFault plans a fault in place of the previous one.
func (d *Disk) SetFault(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.seen.Tripped = f, false
}

// SetSpace sets how many bytes the disk has left; a negative number means no limit.
func (d *Disk) SetSpace(free int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = 0
	if free >= 0 {
		d.capacity = d.used + free
	}
}

// Seen returns the counts so far.
func (d *Disk) Seen() Seen {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.seen
	seen.Trace = d.trace.Sum64()
	return seen
}

// covers reports whether a path is on the disk.
func (d *Disk) covers(path string) bool {
	return strings.HasPrefix(path, d.root+string(filepath.Separator))
}

var errOff = errors.New("the power is off")

// begin counts an operation and reports whether its fault is due. kinds are those that fit the operation.
func (d *Disk) begin(name string, kinds ...Kind) (Kind, error) {
	if d.off {
		return NoFault, &fs.PathError{Op: name, Path: d.root, Err: errOff}
	}
	d.seen.Ops++
	_, _ = d.trace.Write([]byte(name))
	if d.seen.Tripped || d.fault.Kind == NoFault || d.seen.Ops < d.fault.At {
		return NoFault, nil
	}
	for _, k := range append(kinds, PowerFails) {
		if k == d.fault.Kind {
			d.seen.Tripped = true
			d.off = k == PowerFails
			return k, nil
		}
	}
	return NoFault, nil
}

func (d *Disk) node(f *os.File) *inode {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return d.inodes[number(info)]
}

func fail(op string, f *os.File, err error) error {
	return &fs.PathError{Op: op, Path: f.Name(), Err: err}
}
