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
		if inMemory(fileSystem(parent)) {
			if parent, err = filepath.Abs("bin"); err != nil {
				return "", Machine{}, err
			}
			if err := os.MkdirAll(parent, 0o750); err != nil {
				return "", Machine{}, err
			}
		}
	}
	kind := fileSystem(parent)
	if inMemory(kind) {
		return "", Machine{}, fmt.Errorf("%s is in memory (%s), where nothing is ever synced: name a folder on a disk with -dir",
			parent, kind)
	}
	if folder, err = os.MkdirTemp(parent, "touchline-bench-"); err != nil {
		return "", Machine{}, err
	}
	return folder, describe(parent, kind), nil
}

func inMemory(fs string) bool { return fs == "tmpfs" || fs == "ramfs" }

// Machine describes the machine of a measurement.
type Machine struct {
	CPU        string `json:"cpu"`
	Processors int    `json:"processors"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Folder     string `json:"folder"`
	FileSystem string `json:"fileSystem"`
}

func describe(folder, fs string) Machine {
	return Machine{
		CPU: cpuModel(), Processors: runtime.NumCPU(), Kernel: kernel(),
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Folder: folder, FileSystem: fs,
	}
}

// String returns the head of the table.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d processors, %s, %s\nfiles in %s on %s, every write synced\n",
		m.CPU, m.Processors, m.Kernel, m.Go, m.Folder, m.FileSystem)
}

// Shut closes what is no longer needed. Everything that matters in a file has been written and checked before.
func Shut(c io.Closer) { c.Close() }

// Remove deletes a file or folder of the run.
func Remove(path string) { _ = os.RemoveAll(path) }
