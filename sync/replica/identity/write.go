package identity

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// spareSuffix ends the name of the file that a text is written into before it takes the place of the one before.
const spareSuffix = ".spare"

// replaceFile puts a text in the place of a file's: a crash leaves the old one or the new one, as a whole. It writes over
// the spare, and has the two files change their names (exchange), so that each keeps its room and a full disk does not
// matter. The spare has the text before, or a part of one that was being written: nobody reads it. Where names cannot be
// exchanged the spare becomes the file, and the next text needs new room.
func replaceFile(path string, data []byte, exchange func(one, other string) error) error {
	dir, spare := filepath.Dir(path), path+spareSuffix
	if err := syncDir(dir); err != nil { // else the spare may be the file again after a power cut
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

// keepRoom sees to it that the next text finds room: behind the first one, and behind one that was shorter. Where there is
// none now the next text will tell.
func keepRoom(spare string, data []byte) {
	if info, err := os.Stat(spare); err != nil || info.Size() < int64(len(data)) {
		_ = overwrite(spare, data)
	}
}

// overwrite writes a file in place: what it has of the disk it keeps.
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

// pageSize is what file systems give room by, or a multiple of it.
const pageSize = 4096

// wholePages has a text of JSON end with a page, so that a longer one finds its room. Blanks at its end mean nothing.
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
