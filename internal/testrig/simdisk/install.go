//go:build simdisk

package simdisk

import "os"

// SystemFiles returns the real operations of this build.
func SystemFiles() Real {
	r := os.SimReal{}
	return Real{Write: r.Write, Truncate: r.Truncate, Open: r.Open, Rename: r.Rename, Link: r.Link, Remove: r.Remove, Mkdir: r.Mkdir}
}

// Install puts the disk below package os, for the whole process, until remove is called. Files elsewhere are not affected.
func (d *Disk) Install() (remove func()) {
	disk := os.SimDisk(d)
	os.SimSet(&disk)
	return func() { os.SimSet(nil) }
}
