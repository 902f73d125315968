package file

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
)

// LockExisting opens and locks an existing regular file. Opening a pipe would block until its other end is opened.
func LockExisting(path string, flag int, o Options) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.Wrap(pages.ErrNoFile, fault.Damaged, "store_damaged", "%s cannot be used as a store: %v", path, pages.ErrNoFile)
	}
	f, err := os.OpenFile(filepath.Clean(path), flag, 0)
	if err != nil {
		return nil, disk.CannotRead(path, err)
	}
	if err := disk.LockFile(f, o.LockTimeout); err != nil {
		_ = f.Close()
		return nil, lockError(path, err)
	}
	return f, nil
}

// File is an opened file and its state.
type File struct {
	Path       string // empty: in memory
	F          *os.File
	Bolt       *bolt.DB
	State      State
	Compaction CompactionDone
	Remove     func() // of a store in memory: removes what is left after closing
}

// Open opens the file at path. It creates the file and its folder if they do not exist.
func Open(path string, o Options) (*File, error) {
	f, err := openLocked(path, o)
	if err != nil {
		return nil, err
	}
	removeDrafts(path)
	failpoint.Hit(failpoint.OpenLocked)
	is, err := pages.Verify(f, false)
	if err != nil {
		_ = f.Close()
		return nil, DamagedFile(path, err)
	}
	bad, corrected := is.BadMeta, false
	if bad != nil {
		if is, corrected, err = correctFirstPage(f, is); err != nil {
			_ = f.Close()
			return nil, DamagedFile(path, err)
		}
	}
	f, is, compaction, err := compactAtOpen(path, f, is, o)
	if err != nil {
		return nil, err
	}
	if err := keepName(path, o); err != nil {
		_ = f.Close()
		return nil, cannotOpen(path, err)
	}
	failpoint.Hit(failpoint.OpenVerified)
	db, err := openBolt(f, o)
	if err != nil {
		_ = f.Close() // bbolt may have closed it
		return nil, DamagedFile(path, err)
	}
	failpoint.Hit(failpoint.OpenMapped)
	if is.Prefetched {
		disk.Forget(db, f)
	}
	out := &File{Path: path, F: f, Bolt: db, Compaction: compaction}
	if err := out.readState(); err != nil {
		_ = db.Close()
		return nil, DamagedFile(path, err)
	}
	if bad != nil {
		out.noteDamage(bad, corrected, o.Now())
	}
	return out, nil
}

// correctFirstPage sets a wrong bit of a first page right if the last commit is lost without it.
func correctFirstPage(f *os.File, was pages.Verified) (is pages.Verified, corrected bool, err error) {
	if is, corrected, err = was.BadMeta.Correct(f); !corrected {
		return was, false, err
	}
	return is, true, nil
}

func (f *File) readState() error {
	return f.Bolt.View(func(btx *bolt.Tx) (err error) {
		f.State, err = ReadMeta(btx)
		return err
	})
}

// openLocked returns the file, locked, and creates it if needed.
func openLocked(path string, o Options) (*os.File, error) {
	for range 3 { // the file may vanish between two steps: then try again
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if err := create(path, o); err != nil {
				return nil, cannotOpen(path, err)
			}
			continue
		}
		if err != nil {
			return nil, cannotOpen(path, err)
		}
		if err := disk.LockFile(f, o.LockTimeout); err != nil {
			_ = f.Close()
			return nil, lockError(path, err)
		}
		if !disk.SameFile(f, path) { // a compaction has replaced it
			_ = f.Close()
			continue
		}
		return f, nil
	}
	return nil, fault.New(fault.Unavailable, "store_open", "cannot open the store %s: it keeps disappearing", path)
}

func lockError(path string, err error) error {
	if errors.Is(err, disk.ErrLockHeld) {
		return fault.New(fault.Locked, "store_locked", "%s is in use by another touchline process", path)
	}
	return cannotOpen(path, err)
}

func cannotOpen(path string, err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err // the message already has the path
	}
	return fault.New(fault.Unavailable, "store_open", "cannot open the store %s: %v", path, err)
}

// DamagedFile returns the fault of a file that is not a store or not intact.
func DamagedFile(path string, err error) error {
	return fault.New(fault.Damaged, "store_damaged", "%s cannot be used as a store: %v", path, err)
}

func formatError(v uint32) error {
	return fmt.Errorf("its format is version %d, this program knows versions %d to %d", v, format.OldestFormat, format.FormatVersion)
}

// BoltOptions returns the options with which bbolt opens a file.
func BoltOptions(o Options) *bolt.Options {
	if runtime.GOOS == "windows" {
		o.MapSize = 0 // the file gets the size of its map there
	}
	return &bolt.Options{
		Timeout:         o.LockTimeout,
		NoSync:          o.NoSync,
		NoFreelistSync:  true,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: o.MapSize,
	}
}

// openBolt opens a locked and verified file. bbolt panics at some kinds of damage that Verify does not check for.
func openBolt(f *os.File, o Options) (db *bolt.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%v", r)
		}
	}()
	opts := BoltOptions(o)
	opts.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return f, nil }
	db, err = bolt.Open(f.Name(), 0o600, opts)
	if err != nil {
		return nil, err
	}
	db.AllocSize = 0 // Room grows the file; bbolt takes what Room did not foresee, page by page
	return db, nil
}

const newSuffix = ".new-" // followed by two numbers

// create writes a complete file under another name and renames it once it is on disk, so a crash leaves the whole file or none. If
// another process was faster, its file is kept.
func create(path string, o Options) error {
	dir := filepath.Dir(path)
	if err := disk.MakeFolder(dir, o.NoSync); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CreateFolder)
	draft := fmt.Sprintf("%s%s%d-%d", path, newSuffix, os.Getpid(), time.Now().UnixNano())
	defer func() { _ = os.Remove(draft) }()
	if err := writeDraft(draft, o); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CreateDraft)
	if err := disk.Publish(draft, path); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CreateLinked)
	if o.NoSync {
		return nil
	}
	defer failpoint.Hit(failpoint.CreateSynced)
	return disk.SyncDir(dir)
}

func writeDraft(path string, o Options) error {
	opts := BoltOptions(o)
	opts.NoFreelistSync, opts.InitialMmapSize = false, 0
	db, err := bolt.Open(path, 0o600, opts)
	if err != nil {
		return err
	}
	db.AllocSize = 0
	return errors.Join(db.Update(func(btx *bolt.Tx) error { return writeMeta(btx, newIdentity(o)) }), db.Close())
}

// newIdentity returns the identity of a new store.
func newIdentity(o Options) identity {
	id := identity{Node: o.Node, Incarnation: 1}
	if id.Node == "" {
		random := make([]byte, 8)
		_, _ = rand.Read(random) // never fails
		id.Node = hex.EncodeToString(random)
	}
	return id
}

// keepName syncs the folder of an existing file. The process that created or compacted the file may have been killed before it synced its
// name, or that sync may have failed; a power cut would then lose everything written to the file.
func keepName(path string, o Options) error {
	if o.NoSync {
		return nil
	}
	return disk.SyncDir(filepath.Dir(path))
}
