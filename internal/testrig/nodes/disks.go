package nodes

import (
	"os"
	"path/filepath"
	"testing/synctest"

	"github.com/touchline/touchline/edge/node"
)

// CopyDisk copies the disk of a machine that runs, as a backup of its files or a snapshot of the machine does. Fleets in bubbles have it.
func (f *Fleet) CopyDisk(name string) (disk string) {
	f.T.Helper()
	synctest.Wait() // no commit is half done
	return f.copyOf(f.diskOf(name))
}

// PowerOff ends a machine as a power cut does, and returns what is on its disk.
func (f *Fleet) PowerOff(name string) (disk string) {
	f.T.Helper()
	disk = f.CopyDisk(name) // before the node ends in order
	f.Links[name].Kill()    // what an orderly end still sends is not sent by a machine without power
	if err := f.stops[name](); err != nil {
		f.T.Fatal(err)
	}
	delete(f.Base, name)
	return disk
}

// PowerOn starts a machine on a copy of a disk, with a line of its own. Its node is the one that the disk is of, whatever the name of the
// machine.
func (f *Fleet) PowerOn(name, disk string) {
	f.T.Helper()
	if f.Base[name] != "" {
		f.T.Fatalf("machine %s runs already", name)
	}
	f.Links[name] = f.network.Link(name, f.clockOf(name).Wall, nil)
	f.dirs[name] = f.copyOf(disk)
	f.stores[name] = f.openStoreIn(name, f.dirs[name])
	f.start(name)
}

// diskOf returns the folder with a machine's files.
func (f *Fleet) diskOf(name string) string { return filepath.Dir(f.stores[name].Path()) }

// copyOf returns a copy of a folder, in a folder whose name is as long as bubbles need it.
func (f *Fleet) copyOf(disk string) (folder string) {
	f.T.Helper()
	folder = longFolder(f.T.TempDir())
	if err := os.CopyFS(folder, os.DirFS(disk)); err != nil {
		f.T.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, node.StoreFile)); err != nil {
		f.T.Fatal(err)
	}
	return folder
}
