//go:build simdisk

package simdisk

import (
	"io/fs"
	"os"
)

// SystemFiles are the real operations of this build.
func SystemFiles() Real {
	r := os.SimReal
	return Real{
		Write: r.Write, Truncate: r.Truncate, Open: r.Open, Rename: r.Rename, Link: r.Link, Remove: r.Remove, Mkdir: r.Mkdir,
	}
}

// Install puts the disk below package os, for the whole process, until remove is called. Files elsewhere are not touched.
func (d *Disk) Install() (remove func()) {
	os.SimSet(&os.SimHooks{
		Write: d.Write, Sync: d.Sync, Truncate: d.Truncate, Rename: d.Rename, Link: d.Link, Remove: d.Remove,
		Open: func(name string, flag int, perm os.FileMode) (*os.File, error) {
			return d.Open(name, flag, fs.FileMode(perm))
		},
		Mkdir:    func(name string, perm os.FileMode) error { return d.Mkdir(name, perm) },
		Allocate: func(f *os.File, from, to int64, _ func() error) error { return d.Allocate(f, from, to) },
	})
	return func() { os.SimSet(nil) }
}
