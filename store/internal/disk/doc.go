// Package disk provides what the store needs of files, folders and disks: locks, drafts that get their name once they are on disk, and
// space that is reserved before it is written to. The differences between operating systems are in disk_linux.go and its neighbours.
package disk
