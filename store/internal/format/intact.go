package format

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Intact remembers rows that were compared with their checksum, by where they lie in memory and the checksum itself. To
// sum up an item of 1 KB takes about as long as to find it, and one of 100 KB ten times as long; to look here takes some
// nanoseconds. bbolt never changes a page that can be read: what is written in its place later has another checksum, or
// is the same row. So a row is verified when it is read for the first time since Open, and again once it has been
// displaced here. What a disk or memory does to it between these is found by the pass of scrub.
type Intact struct {
	pages [intactPages]intactPage
}

const intactPages = 1 << 13 // of a file of 32 MB each row has its place

// intactPage remembers rows of one page of memory (4 KB), by where in it they begin: who reads row after row finds their
// marks beside each other. Small rows displace one another, but are summed up fast.
type intactPage [16]atomic.Uint64

// Slot is where a row would be remembered, and as what.
func (n *Intact) Slot(r Row) (at *atomic.Uint64, mark uint64) {
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r)))) //nolint:gosec // G103: a number that is only compared
	return &n.pages[address>>12%intactPages][address>>8%16], address<<32 | uint64(binary.BigEndian.Uint32(r[rowSum:]))
}

// Check is row.check for a row that is about to be read.
func (n *Intact) Check(r Row, key []byte) error {
	if err := r.Known(); err != nil || r.Plain() {
		return err
	}
	at, mark := n.Slot(r)
	if at.Load() == mark {
		return nil
	}
	if err := r.Check(key); err != nil {
		return err
	}
	at.Store(mark)
	return nil
}

// Forget has a row verified again when it is read.
func (n *Intact) Forget(r Row) {
	if r.Known() == nil && !r.Plain() {
		at, _ := n.Slot(r)
		at.Store(0)
	}
}
