//go:build unix

package simdisk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write is os.File.WriteAt, or os.File.Write if off is negative.
func (d *Disk) Write(f *os.File, b []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.node(f)
	if node == nil || node.folder || len(b) == 0 {
		return d.real.Write(f, b, off)
	}
	at := off
	if off < 0 {
		var err error
		if at, err = f.Seek(0, io.SeekCurrent); err != nil {
			return 0, err
		}
	}
	kind, err := d.begin("write", WriteFails, WriteStops, WriteFull)
	if err != nil {
		return 0, err
	}
	_, _ = fmt.Fprintf(d.trace, "%d %d", at, len(b)) // not the content, which may be a random id
	n, err := d.writable(node, at, len(b), kind)
	if kind == PowerFails {
		err = errOff
		n = len(b) // how much of it survives is decided with everything else
	}
	if n > 0 {
		d.now++
		d.used += node.occupy(at, at+int64(n))
		node.write(b[:n], at, d.now)
		if _, err := d.real.Write(f, b[:n], off); err != nil {
			return 0, err
		}
	}
	d.lastMeta = at < 2*block
	if err != nil {
		return n, fail("write", f, err)
	}
	d.seen.Writes++
	return n, nil
}

// writable returns how much of a write is done, and the error if not all.
func (d *Disk) writable(node *inode, at int64, length int, kind Kind) (int, error) {
	part := d.rng.IntN(length)
	switch kind {
	case WriteFails:
		return 0, syscall.EIO
	case WriteStops:
		return part, syscall.EIO
	case WriteFull:
		d.seen.Full++
		return part, syscall.ENOSPC
	}
	if d.full(node, at, at+int64(length)) {
		for length > 0 && d.full(node, at, at+int64(length)) {
			length -= min(length, sector)
		}
		return length, syscall.ENOSPC
	}
	return length, nil
}

func (d *Disk) full(node *inode, from, to int64) bool {
	if d.capacity == 0 {
		return false
	}
	missing := node.missing(from, to)
	if missing == 0 || d.used+missing <= d.capacity {
		return false
	}
	d.seen.Full++
	return true
}

// Sync is os.File.Sync, also of a folder, and fdatasync.
func (d *Disk) Sync(f *os.File, _ bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.node(f)
	if node == nil && f.Name() != d.root {
		return nil
	}
	kind, err := d.begin("sync", SyncFails)
	switch {
	case err != nil:
		return err
	case kind == PowerFails:
		return fail("sync", f, errOff)
	case kind == SyncFails:
		if d.lastMeta {
			d.seen.MetaSyncs++
		} else {
			d.seen.DataSyncs++
		}
		if node != nil && !node.folder {
			d.forget(f, node)
		}
		return fail("sync", f, syscall.EIO)
	}
	d.seen.Syncs++
	if node == nil || node.folder {
		d.syncFolder(f.Name())
		return nil
	}
	node.sync()
	return nil
}

// forget is the effect of a failed sync: some data is on disk, and the system considers all of it written. It reads some pages from the
// disk again, now or later.
func (d *Disk) forget(f *os.File, node *inode) {
	image, _, _ := node.image(newCutter(d.rng, d.now).file())
	reread := d.rng.IntN(2) == 0
	for _, s := range sortedKeys(node.dirty) {
		from := s * sector
		if to := min(from+sector, int64(len(node.data)), int64(len(image))); reread && from < to {
			copy(node.data[from:to], image[from:to])
			_, _ = d.real.Write(f, image[from:to], from)
		}
	}
	node.durable = image
	node.clean()
}

func (d *Disk) syncFolder(folder string) {
	var rest []change
	for _, c := range d.changes {
		if c.folder == folder {
			c.apply(d.durable)
		} else {
			rest = append(rest, c)
		}
	}
	d.changes = rest
}

// Truncate is os.File.Truncate.
func (d *Disk) Truncate(f *os.File, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.node(f)
	if node == nil {
		return d.real.Truncate(f, size)
	}
	kind, err := d.begin("truncate")
	if err != nil {
		return err
	}
	d.now++
	d.used -= int64(len(node.blocks)) * block
	node.resize(size, d.now)
	d.used += int64(len(node.blocks)) * block
	if err := d.real.Truncate(f, size); err != nil {
		return err
	}
	if kind == PowerFails {
		return fail("truncate", f, errOff)
	}
	return nil
}

// Allocate extends a file with allocated space, as fallocate does.
func (d *Disk) Allocate(f *os.File, from, to int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.node(f)
	if node == nil {
		return d.real.Truncate(f, to)
	}
	kind, err := d.begin("allocate", AllocFails)
	switch {
	case err != nil:
		return err
	case kind == AllocFails:
		return fail("allocate", f, syscall.EIO)
	case d.full(node, from, to):
		return fail("allocate", f, syscall.ENOSPC)
	}
	d.now++
	d.used += node.occupy(from, to)
	if to > int64(len(node.data)) {
		node.resize(to, d.now)
		if err := d.real.Truncate(f, to); err != nil {
			return err
		}
	}
	d.seen.Allocs++
	if kind == PowerFails {
		return fail("allocate", f, errOff)
	}
	return nil
}

// Open is os.OpenFile.
func (d *Disk) Open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.covers(name) || flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		return d.real.Open(name, flag, perm)
	}
	kind, err := d.begin("open")
	if err != nil {
		return nil, err
	}
	_, statErr := os.Lstat(name)
	f, err := d.real.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if statErr != nil {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		node := &inode{dirty: map[int64][]version{}, blocks: map[int64]bool{}}
		d.inodes[number(info)] = node
		d.rename("", name, node)
	} else if node := d.node(f); node != nil && flag&os.O_TRUNC != 0 {
		d.now++
		node.resize(0, d.now)
	}
	if kind == PowerFails {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errOff}
	}
	return f, nil
}

// rename records a change of a folder: a new name, a removed one, or both at once.
func (d *Disk) rename(from, to string, node *inode) {
	d.now++
	d.seen.Names++
	c := change{at: d.now, remove: from, add: to, node: node}
	if c.folder = filepath.Dir(to); to == "" {
		c.folder = filepath.Dir(from)
	}
	c.apply(d.live)
	d.changes = append(d.changes, c)
}

// name runs an operation on names: do does it, then note records it.
func (d *Disk) name(op, from, to string, do func() error, note func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.covers(from) && !d.covers(to) {
		return do()
	}
	kind, err := d.begin(op)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	note()
	if kind == PowerFails {
		return &fs.PathError{Op: op, Path: from, Err: errOff}
	}
	return nil
}

// Rename is os.Rename, within one folder.
func (d *Disk) Rename(from, to string) error {
	return d.name("rename", from, to, func() error { return d.real.Rename(from, to) },
		func() { d.rename(from, to, d.live[from]) })
}

// Link is os.Link.
func (d *Disk) Link(from, to string) error {
	return d.name("link", from, to, func() error { return d.real.Link(from, to) },
		func() { d.rename("", to, d.live[from]) })
}

// Remove is os.Remove.
func (d *Disk) Remove(name string) error {
	return d.name("remove", name, "", func() error { return d.real.Remove(name) },
		func() { d.rename(name, "", nil) })
}

// Mkdir is os.Mkdir.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	return d.name("mkdir", name, "", func() error { return d.real.Mkdir(name, perm) }, func() {
		if info, err := os.Stat(name); err == nil {
			node := &inode{folder: true}
			d.inodes[number(info)] = node
			d.rename("", name, node)
		}
	})
}
