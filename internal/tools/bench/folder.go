package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// place says what the run writes to.
type place struct {
	folder string
	fs     string // kind of file system
}

// makeFolder makes the folder of the run on a disk: in the one that was asked for, in the one for temporary files, or
// if that lies in memory in bin/, which git ignores.
func makeFolder(asked string) (folder string, where place, err error) {
	parent := asked
	if parent == "" {
		parent = os.TempDir()
		if inMemory(fileSystem(parent)) {
			if parent, err = filepath.Abs("bin"); err != nil {
				return "", place{}, err
			}
			if err := os.MkdirAll(parent, 0o750); err != nil {
				return "", place{}, err
			}
		}
	}
	kind := fileSystem(parent)
	if inMemory(kind) {
		return "", place{}, fmt.Errorf("%s is in memory (%s), where nothing is ever synced: name a folder on a disk with -dir",
			parent, kind)
	}
	if folder, err = os.MkdirTemp(parent, "touchline-bench-"); err != nil {
		return "", place{}, err
	}
	return folder, place{folder: parent, fs: kind}, nil
}

func inMemory(fs string) bool { return fs == "tmpfs" || fs == "ramfs" }

// machine is what the figures were measured on.
type machine struct {
	CPU        string `json:"cpu"`
	Processors int    `json:"processors"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Folder     string `json:"folder"`
	FileSystem string `json:"fileSystem"`
}

func describe(p place) machine {
	return machine{
		CPU: cpuModel(), Processors: runtime.NumCPU(), Kernel: kernel(),
		Go:     runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Folder: p.folder, FileSystem: p.fs,
	}
}

// String is the head of the table.
func (m machine) String() string {
	return fmt.Sprintf("%s, %d processors, %s, %s\nfiles in %s on %s, every write synced\n",
		m.CPU, m.Processors, m.Kernel, m.Go, m.Folder, m.FileSystem)
}

// shut closes what is not needed any more. What matters of a file has been written and looked at before.
func shut(c io.Closer) { c.Close() }

// remove deletes a file or a folder of the run.
func remove(path string) { _ = os.RemoveAll(path) }
