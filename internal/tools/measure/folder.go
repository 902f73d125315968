package measure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// makeFolder creates the folder of a run on a disk: in the given folder, in that for temporary files, or, if that is in memory, in bin/,
// which git ignores. It returns the path and a description of the machine.
func makeFolder(asked string) (folder string, on Machine, err error) {
	parent := asked
	if parent == "" {
		parent = os.TempDir()
		if inMemory(parent) {
			if parent, err = filepath.Abs("bin"); err != nil {
				return "", Machine{}, err
			}
			if err := os.MkdirAll(parent, 0o750); err != nil {
				return "", Machine{}, err
			}
		}
	}
	if inMemory(parent) {
		return "", Machine{}, fmt.Errorf("%s is in memory, where nothing is ever synced: name a folder on a disk with -dir", parent)
	}
	if folder, err = os.MkdirTemp(parent, "touchline-bench-"); err != nil {
		return "", Machine{}, err
	}
	system := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	return folder, Machine{Processors: runtime.NumCPU(), Go: system, Folder: parent}, nil
}

// Machine describes the machine of a measurement.
type Machine struct {
	Processors int    `json:"processors"`
	Go         string `json:"go"`
	Folder     string `json:"folder"`
}

// String returns the head of the table.
func (m Machine) String() string {
	return fmt.Sprintf("%d processors, %s\nfiles in %s, every write synced\n", m.Processors, m.Go, m.Folder)
}

// Shut closes what is no longer needed. Everything that matters in a file has been written and checked before.
func Shut(c io.Closer) { c.Close() }

// Remove deletes a file or folder of the run.
func Remove(path string) { _ = os.RemoveAll(path) }
