package store

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
	"github.com/touchline/touchline/store/expr"
)

// exprCache is how many parsed expressions are kept. Applications have some dozens of texts.
const exprCache = 1024

// Open opens the store in the file at path and creates it, and the folder around it, where there is none. A file that
// another process holds is fault.Locked; one that is torn, foreign or made by a newer version is fault.Damaged, and is
// left as it is. Every error is one line that names the file.
func Open(path string, o Options) (*Store, error) {
	o = o.withDefaults()
	f, err := openLocked(path, o)
	if err != nil {
		return nil, err
	}
	removeDrafts(path)
	failpoint.Hit(failpoint.OpenLocked)
	is, err := verifyFile(f, false)
	if err != nil {
		_ = f.Close()
		return nil, damagedFile(path, err)
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
		_ = f.Close() // unless bbolt has
		return nil, damagedFile(path, err)
	}
	failpoint.Hit(failpoint.OpenMapped)
	if is.prefetched {
		forget(db, f)
	}
	s, err := start(path, db, f, o)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	s.compaction = compaction
	return s, nil
}

// openLocked returns the file, locked, after creating it if need be.
func openLocked(path string, o Options) (*os.File, error) {
	for range 3 { // a file that vanishes between two steps is made anew
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
		if err := lockFile(f, o.LockTimeout); err != nil {
			_ = f.Close()
			return nil, lockError(path, err)
		}
		if !sameFile(f, path) { // a compaction has put another in its place
			_ = f.Close()
			continue
		}
		return f, nil
	}
	return nil, fault.New(fault.Unavailable, "store_open", "cannot open the store %s: it keeps disappearing", path)
}

var errLockHeld = errors.New("the lock is held")

func lockError(path string, err error) error {
	if errors.Is(err, errLockHeld) {
		return fault.New(fault.Locked, "store_locked", "%s is in use by another touchline process", path)
	}
	return cannotOpen(path, err)
}

func cannotOpen(path string, err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err // the path is in the message already
	}
	return fault.New(fault.Unavailable, "store_open", "cannot open the store %s: %v", path, err)
}

func damagedFile(path string, err error) error {
	return fault.New(fault.Damaged, "store_damaged", "%s cannot be used as a store: %v", path, err)
}

func formatError(v uint32) error {
	return fmt.Errorf("its format is version %d, this program knows versions %d to %d", v, oldestFormat, formatVersion)
}

func boltOptions(o Options) *bolt.Options {
	if runtime.GOOS == "windows" {
		o.MapSize = 0 // there the file takes the size of its map
	}
	return &bolt.Options{
		Timeout:         o.LockTimeout,
		NoSync:          o.NoSync,
		NoFreelistSync:  true,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: o.MapSize,
	}
}

// openBolt opens a locked and verified file. bbolt panics on some damage that verifyFile does not look for.
func openBolt(f *os.File, o Options) (db *bolt.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%v", r)
		}
	}()
	opts := boltOptions(o)
	opts.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return f, nil }
	db, err = bolt.Open(f.Name(), 0o600, opts)
	if err != nil {
		return nil, err
	}
	db.AllocSize = 0 // room grows the file; what it did not foresee is taken to the page
	return db, nil
}

// start reads the state of the file and starts the committer.
func start(path string, db *bolt.DB, f *os.File, o Options) (*Store, error) {
	var st fileState
	err := db.View(func(btx *bolt.Tx) (err error) {
		st, err = readMeta(btx)
		return err
	})
	if err != nil {
		return nil, damagedFile(path, err)
	}
	s := &Store{
		path: path, opts: o, node: st.node, db: db, room: newRoom(f, db, o),
		exprs: expr.NewCache(exprCache), failed: make(chan struct{}),
	}
	s.cat.Store(st.cat)
	s.journal.Store(&st.journal)
	s.incarnation.Store(st.incarnation)
	s.older.Store(st.format < formatVersion)
	s.readers = newReaders(o.ReadDeadline)
	s.lane = newLane()
	s.commits = newCommitter(s)
	return s, nil
}

// shutDown commits with the free list, so that the next Open need not search the file for free pages, and closes.
func (s *Store) shutDown() error {
	if s.remove != nil {
		defer s.remove()
		return s.db.Close()
	}
	if s.Err() == nil {
		failpoint.Hit(failpoint.CloseBegin)
		s.db.NoFreelistSync = false
		// Without it the next Open is slower and finds the same data: no reason to fail.
		_ = s.db.Update(func(btx *bolt.Tx) error {
			return s.room.reserve(btx, 64*os.Getpagesize()+int(btx.Size()/256), 0)
		})
	}
	failpoint.Hit(failpoint.CloseFreelist)
	return s.db.Close()
}

const newSuffix = ".new-" // and two numbers

// create makes a complete file under another name and gives it its own when it is on disk: a crash leaves the whole
// file or none. If another process was faster its file stands.
func create(path string, o Options) error {
	dir := filepath.Dir(path)
	if err := makeFolder(dir, o.NoSync); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CreateFolder)
	draft := fmt.Sprintf("%s%s%d-%d", path, newSuffix, os.Getpid(), time.Now().UnixNano())
	defer func() { _ = os.Remove(draft) }()
	if err := writeDraft(draft, o); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CreateDraft)
	if err := publish(draft, path); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CreateLinked)
	if o.NoSync {
		return nil
	}
	defer failpoint.Hit(failpoint.CreateSynced)
	return syncDir(dir)
}

func writeDraft(path string, o Options) error {
	opts := boltOptions(o)
	opts.NoFreelistSync, opts.InitialMmapSize = false, 0
	db, err := bolt.Open(path, 0o600, opts)
	if err != nil {
		return err
	}
	db.AllocSize = 0
	return errors.Join(db.Update(func(btx *bolt.Tx) error { return writeMeta(btx, newIdentity(o)) }), db.Close())
}

// newIdentity is that of a new store.
func newIdentity(o Options) identity {
	id := identity{node: o.Node, incarnation: 1}
	if id.node == "" {
		random := make([]byte, 8)
		_, _ = rand.Read(random) // never fails
		id.node = hex.EncodeToString(random)
	}
	return id
}

// publish gives the draft its name unless that is taken. A link does not replace; where there are no links (FAT) a
// rename does, in the unlikely case that two processes create the same store at once and neither sees the other's.
func publish(draft, path string) error {
	err := os.Link(draft, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if _, there := os.Lstat(path); there == nil { // whoever was faster has removed the draft too
		return nil
	}
	return os.Rename(draft, path)
}

// keepName syncs the folder of a file that is there: who gave it its name, after it was made or compacted, may have been
// killed before that, or the sync may have failed. A power cut would then take what is written to it from now on.
func keepName(path string, o Options) error {
	if o.NoSync {
		return nil
	}
	return syncDir(filepath.Dir(path))
}

// makeFolder makes a folder, and those above it, that are there after a crash too: a file on disk is lost if its folder
// is not.
func makeFolder(dir string, noSync bool) error {
	var made []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil || noSync {
		return err
	}
	for _, at := range made {
		if err := syncDir(filepath.Dir(at)); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
