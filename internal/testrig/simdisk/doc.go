// Package simdisk simulates the disk below the files of a folder, so that a test can take it away at any moment: what
// was not synced is then there or not, sector by sector and in any order, as after a power cut. It can also fill up,
// and fail writes and syncs.
//
// The files are real ones, so that programs may map them; the Disk sees every write, sync, allocation and change of a
// folder, and remembers what each sector held since the last sync. PowerCut writes what is left into another folder.
// All that is random comes from one seed.
//
// Install puts a Disk below package os. That needs a build with hooks in it: tag simdisk, see internal/tools/simdisk.
package simdisk
