// Package simdisk simulates the disk below the files of a folder, so that a test can cut the power at any moment: data that was not
// synced then survives or not, sector by sector and in any order. The disk can also fill up, and fail writes and syncs.
//
// The files are real ones, so programs may map them. The Disk sees every write, sync, allocation and change of a folder, and remembers
// what each sector held since the last sync. PowerCut writes what survives to another folder. All randomness comes from one seed.
//
// Install puts a Disk below package os. That needs a build with hooks: tag simdisk, see internal/tools/simdisk.
package simdisk
