package identity

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// spareSuffix ends the name of the file that is written before it replaces the previous one.
const spareSuffix = ".spare"

// replaceFile replaces a file's content: a crash leaves the old or the new content complete. It overwrites the spare and swaps the names
// of the two files (exchange), so that each keeps its disk blocks and a full disk does not matter. The spare then holds the previous
// content, or part of a write that was interrupted; nobody reads it. Where names cannot be swapped, the spare becomes the file,
// and the next write needs new blocks.
func replaceFile(path string, data []byte, exchange func(one, other string) error) error {
	dir, spare := filepath.Dir(path), path+spareSuffix
	if err := syncDir(dir); err != nil { // otherwise the spare may be the file again after a power cut
		return err
	}
	if err := overwrite(spare, data); err != nil {
		return err
	}
	failed := exchange(spare, path)
	if failed != nil {
		if err := os.Rename(spare, path); err != nil {
			return err
		}
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	if failed == nil || errors.Is(failed, fs.ErrNotExist) {
		keepRoom(spare, data)
	}
	return nil
}

// keepRoom reserves room for the next write, after the first one and after a shorter one. If there is no room now, the next write will
// report it.
func keepRoom(spare string, data []byte) {
	if info, err := os.Stat(spare); err != nil || info.Size() < int64(len(data)) {
		_ = overwrite(spare, data)
	}
}

// overwrite writes a file in place, so that it keeps its disk blocks.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// pageSize is the unit in which file systems allocate, or a multiple of it.
const pageSize = 4096

// wholePages pads JSON with blanks to whole pages, so that a longer text still fits in the file's blocks.
func wholePages(text []byte) []byte {
	out := bytes.Repeat([]byte{' '}, (len(text)/pageSize+1)*pageSize)
	copy(out, text)
	out[len(out)-1] = '\n'
	return out
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
