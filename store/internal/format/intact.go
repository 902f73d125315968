package format

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Intact remembers rows that have been verified, by their address in memory and their checksum. Computing the checksum of an item of 1 KB
// takes about as long as finding it, and ten times as long at 100 KB; a lookup here takes some nanoseconds. bbolt never changes a page
// that can be read: a row written there later has another checksum, or is the same row. So a row is verified when it is first read after
// Open, and again after it has been displaced here. Damage by disk or memory in between is found by Scrub.
type Intact struct {
	pages [intactPages]intactPage
}

const intactPages = 1 << 13 // one for each page of memory of a 32 MB file

// intactPage remembers rows of one page of memory (4 KB) by their offset: reading row after row uses adjacent marks. Small rows displace
// one another, but verifying them is fast.
type intactPage [16]atomic.Uint64

// Slot returns the slot of a row and the mark that it has there.
func (n *Intact) Slot(r Row) (at *atomic.Uint64, mark uint64) {
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r)))) //nolint:gosec // G103: a number that is only compared
	return &n.pages[address>>12%intactPages][address>>8%16], address<<32 | uint64(binary.BigEndian.Uint32(r[rowSum:]))
}

// Check is Row.Check for a row about to be read. It skips rows that have been verified.
func (n *Intact) Check(r Row, key []byte) error {
	if err := r.CheckVersion(); err != nil || r.Plain() {
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

// Forget causes a row to be verified again at the next read.
func (n *Intact) Forget(r Row) {
	if r.CheckVersion() == nil && !r.Plain() {
		at, _ := n.Slot(r)
		at.Store(0)
	}
}
