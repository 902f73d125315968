//go:build simdisk

package simdisk

import "os"

// SystemFiles are the real operations of this build.
func SystemFiles() Real { return os.SimReal{} }

// Install puts the disk below package os, for the whole process, until remove is called. Files elsewhere are not touched.
func (d *Disk) Install() (remove func()) {
	disk := os.SimDisk(d)
	os.SimSet(&disk)
	return func() { os.SimSet(nil) }
}
