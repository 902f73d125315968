package file

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
)

// CompactInfo describes what a compaction did.
type CompactInfo struct {
	Path        string  `json:"path"`
	Before      int64   `json:"before"` // bytes of the file
	After       int64   `json:"after"`
	TookSeconds float64 `json:"tookSeconds"`
}

// CompactionDone is the result of the compaction in Open.
type CompactionDone struct {
	Info CompactInfo
	Err  error
}

const (
	compactSuffix = ".compact"

	// compactPart is the size of one transaction of a compaction, which is held in memory.
	compactPart = 4 << 20
)

// Compact is store.Compact.
func Compact(ctx context.Context, path string, progress func(done, total int64)) (CompactInfo, error) {
	o := Options{}.WithDefaults()
	f, err := LockExisting(path, os.O_RDWR, o)
	if err != nil {
		return CompactInfo{}, err
	}
	removeDrafts(path)
	f, info, err := compactFile(ctx, path, f, progress)
	if err != nil {
		return info, err
	}
	return info, f.Close()
}

// compactWorth reports whether a file is large enough to be compacted and more than half free.
func compactWorth(is pages.Verified, o Options) bool {
	return is.BadMeta == nil && o.CompactAbove >= 0 && is.Meta.Used() > o.CompactAbove && is.Free > is.Meta.High/2
}

// compactAtOpen compacts the file that Open has locked if it is worth it. Unless it returns an error, the returned file is locked.
// Between closing the old file and locking the new one, another process may take it.
func compactAtOpen(path string, f *os.File, is pages.Verified, o Options) (*os.File, pages.Verified, CompactionDone, error) {
	if !compactWorth(is, o) {
		return f, is, CompactionDone{}, nil
	}
	packed, info, err := compactFile(context.Background(), path, f, nil)
	done := CompactionDone{info, err}
	if fault.Is(err, fault.Damaged) {
		return nil, is, done, err
	}
	if err != nil {
		if packed, err = openLocked(path, o); err != nil {
			return nil, is, done, err
		}
	}
	is, err = pages.Verify(packed, false)
	if err != nil {
		_ = packed.Close()
		return nil, is, done, DamagedFile(path, err)
	}
	return packed, is, done, nil
}

// compactFile compacts a locked file, which it closes, and returns the new one, locked.
func compactFile(ctx context.Context, path string, f *os.File, progress func(done, total int64)) (packed *os.File, info CompactInfo, err error) {
	began := time.Now()
	path = behindLinks(path)
	size, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, info, disk.CannotRead(path, err)
	}
	is, err := pages.Verify(f, true)
	if err != nil {
		_ = f.Close()
		return nil, info, DamagedFile(path, err)
	}
	if is.BadMeta != nil { // a new file would hide it
		_ = f.Close()
		return nil, info, fault.New(fault.Damaged, "store_damaged",
			"%s was not compacted: one of its two first pages is damaged. Start the node, which notes the damage, and compact after that", path)
	}
	live := int64((is.Meta.High - is.Free) * is.Meta.PageSize)
	if err := disk.RoomFor(filepath.Dir(path), live); err != nil {
		_ = f.Close()
		return nil, info, err
	}
	from, err := OpenReadOnly(f)
	if err != nil {
		_ = f.Close() // bbolt may have closed it
		return nil, info, DamagedFile(path, err)
	}
	defer from.Close() //nolint:errcheck // it was only read
	d, err := disk.NewDraft(path + compactSuffix)
	if err != nil {
		return nil, info, err
	}
	if err := compactInto(ctx, d, from, live, progress); err != nil {
		d.Discard()
		return nil, info, err
	}
	failpoint.Hit(failpoint.CompactPacked)
	disk.DropCache(f)
	after, err := d.F.Stat()
	if err == nil {
		err = d.Publish(path, true)
	}
	if err != nil {
		d.Discard()
		return nil, info, err
	}
	return d.F, CompactInfo{Path: path, Before: size.Size(), After: after.Size(), TookSeconds: time.Since(began).Seconds()}, nil
}

// behindLinks resolves symbolic links, so that a file on another disk stays there.
func behindLinks(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}

// compactInto fills the draft and verifies the result.
func compactInto(ctx context.Context, d *disk.Draft, from *bolt.DB, live int64, progress func(done, total int64)) error {
	seed := maphash.MakeSeed()
	p := packer{ctx: ctx, sum: newContentSum(seed), total: live, progress: progress}
	if err := p.pack(d, from); err != nil {
		return err
	}
	info, err := os.Stat(d.Path)
	if err != nil {
		return disk.CannotRead(d.Path, err)
	}
	if err := d.Reopen(info.Size()); err != nil {
		return err
	}
	if _, err := pages.Verify(d.F, true); err != nil {
		return DamagedFile(d.Path, err)
	}
	written, err := contentOf(ctx, d, seed)
	if err == nil && written != p.sum.h.Sum64() {
		err = fault.New(fault.Damaged, "store_damaged", "%s differs from the file it was made from", d.Path)
	}
	return err
}

// packer copies buckets into a new file, in the order of their keys.
type packer struct {
	ctx      context.Context //nolint:containedctx // the life of one call
	to       *bolt.DB
	btx      *bolt.Tx
	part     int64 // bytes in btx
	sum      *contentSum
	done     int64
	total    int64
	progress func(done, total int64)
}

// pack copies from into the draft and closes the draft's file.
func (p *packer) pack(d *disk.Draft, from *bolt.DB) (err error) {
	opts := BoltOptions(Options{MapSize: int(p.total) + compactPart})
	opts.NoSync = true // the whole file is synced once it is complete
	opts.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return d.F, nil }
	if p.to, err = bolt.Open(d.Path, 0o600, opts); err != nil {
		return disk.CannotWrite(d.Path, err)
	}
	p.to.AllocSize = 0
	defer func() {
		if p.btx != nil {
			_ = p.btx.Rollback()
		}
		err = errors.Join(err, p.to.Close())
	}()
	if p.btx, err = p.to.Begin(true); err != nil {
		return disk.CannotWrite(d.Path, err)
	}
	err = from.View(func(btx *bolt.Tx) error {
		if _, err := ReadMeta(btx); err != nil {
			return DamagedFile(d.Path, err)
		}
		return btx.ForEach(p.bucket)
	})
	if err != nil {
		return err
	}
	p.to.NoFreelistSync = false // so the next Open need not search for free pages
	return p.commit(false)
}

// bucket copies one bucket. Buckets are not nested.
func (p *packer) bucket(name []byte, b *bolt.Bucket) error {
	to, err := p.btx.CreateBucket(name)
	if err == nil {
		err = to.SetSequence(b.Sequence())
	}
	if err != nil {
		return disk.CannotWrite(p.to.Path(), err)
	}
	to.FillPercent = format.JournalFill
	p.sum.bucket(name, b)
	return b.ForEach(func(k, v []byte) error {
		if v == nil {
			return fault.New(fault.Damaged, "store_damaged", "the store is damaged: bucket %x holds another", name)
		}
		if p.part > compactPart {
			if err := p.commit(true); err != nil {
				return err
			}
			to = p.btx.Bucket(name)
			to.FillPercent = format.JournalFill
		}
		p.sum.pair(k, v)
		p.part += int64(len(k) + len(v))
		if err := to.Put(k, v); err != nil {
			return disk.CannotWrite(p.to.Path(), err)
		}
		return nil
	})
}

// commit ends one part of the copy and starts the next.
func (p *packer) commit(more bool) (err error) {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	err, p.btx = p.btx.Commit(), nil
	if err == nil && more {
		p.btx, err = p.to.Begin(true)
	}
	if err != nil {
		return disk.CannotWrite(p.to.Path(), err)
	}
	failpoint.Hit(failpoint.CompactPart)
	p.done, p.part = p.done+p.part, 0
	if p.progress != nil {
		p.progress(p.done, max(p.total, p.done))
	}
	return nil
}

// contentOf reads a file back and computes the sum of its content.
func contentOf(ctx context.Context, d *disk.Draft, seed maphash.Seed) (uint64, error) {
	sum := newContentSum(seed)
	db, err := OpenReadOnly(d.F)
	if err != nil {
		return 0, DamagedFile(d.Path, err)
	}
	err = db.View(func(btx *bolt.Tx) error {
		return btx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			sum.bucket(name, b)
			return b.ForEach(func(k, v []byte) error {
				sum.pair(k, v)
				return nil
			})
		})
	})
	info, statErr := os.Stat(d.Path)
	if err := errors.Join(err, db.Close(), statErr); err != nil {
		return 0, err
	}
	return sum.h.Sum64(), d.Reopen(info.Size())
}

// contentSum is a hash of buckets, keys and values in order.
type contentSum struct{ h maphash.Hash }

func newContentSum(seed maphash.Seed) *contentSum {
	s := &contentSum{}
	s.h.SetSeed(seed)
	return s
}

func (s *contentSum) bucket(name []byte, b *bolt.Bucket) {
	fmt.Fprintf(&s.h, "%d %d ", len(name), b.Sequence()) //nolint:errcheck // never fails
	_, _ = s.h.Write(name)
}

func (s *contentSum) pair(k, v []byte) {
	var lengths [16]byte
	n := copy(lengths[:], format.SeqKey(uint64(len(k))))
	copy(lengths[n:], format.SeqKey(uint64(len(v))))
	_, _ = s.h.Write(lengths[:])
	_, _ = s.h.Write(k)
	_, _ = s.h.Write(v)
}

// OpenReadOnly opens a locked and verified file for reading, without its free list. Closing the database closes the file.
func OpenReadOnly(f *os.File) (db *bolt.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%v", r)
		}
	}()
	return bolt.Open(f.Name(), 0, &bolt.Options{
		ReadOnly: true, NoStatistics: true, Timeout: time.Second,
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return f, nil },
	})
}

// removeDrafts removes what a crash has left of work on a store. The caller holds the store's lock, so the only others who may be working
// there are processes creating the same store, and they notice that it exists.
func removeDrafts(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // if the folder cannot be listed, drafts of new files stay
	for _, e := range entries {
		rest, found := strings.CutPrefix(e.Name(), filepath.Base(path)+newSuffix)
		if found && strings.Trim(rest, "0123456789-") == "" {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	_ = os.Remove(behindLinks(path) + compactSuffix)
	for _, suffix := range []string{compactSuffix, RestoreSuffix, CheckSuffix} {
		_ = os.Remove(path + suffix)
	}
}
