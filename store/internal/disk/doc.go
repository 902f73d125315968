// Package disk is what the store needs of files, folders and the disk under them: locks, drafts that get their name when they are
// on disk, room that is reserved before it is written to. What differs between systems is in disk_linux.go and its neighbours.
package disk
