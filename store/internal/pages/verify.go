package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// ErrNoFile is the error for a path that is a folder, a pipe or a device.
var ErrNoFile = errors.New("it is not a file")

// ErrForeign is the error for a file that is not a touchline store.
var ErrForeign = errors.New("it is not a touchline store")

// bbolt trusts its file. On a damaged or foreign file, Open may panic, even in a goroutine of its own where nobody can recover, and a
// page number out of range is a segmentation fault. So the file is verified first, by reading only: the meta pages always, and every page
// if the file is small or was not cleanly closed. In the latter case bbolt would walk all of it too.

// verifyLimit is the size up to which a cleanly closed file is verified completely, which takes some milliseconds.
const verifyLimit = 32 << 20

// prefetchLimit is the size above which a file is read sequentially before it is walked: the order of the walk is ten times slower on a
// cold disk.
const prefetchLimit = 64 << 20

// Constants of bbolt's file format, version 2. All numbers are in the byte order of the machine.
const (
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	boltNoFreelist = 0xffffffffffffffff

	pageHeader    = 16 // id 8, flags 2, count 2, overflow 4
	metaSize      = 64
	metaSummed    = 56
	metaTxid      = 48
	elementSize   = 16 // of branch and leaf pages
	bucketHeader  = 16 // root page 8, sequence 8
	pageBranch    = 0x01
	pageLeaf      = 0x02
	pageFreelist  = 0x10
	pageMeta      = 0x04
	elementBucket = 0x01

	// manyFree as the count of a free list means that the count does not fit and is stored in front of the list.
	manyFree = 0xffff
)

// Meta is the valid meta page with the highest transaction id.
type Meta struct {
	PageSize uint64
	root     uint64
	freelist uint64
	High     uint64 // the first page that does not exist
	txid     uint64
}

// closedInOrder reports whether the last commit wrote the free list, which only Close does.
func (m Meta) closedInOrder() bool { return m.freelist != boltNoFreelist }

// Used returns the size of the pages in use, in bytes.
func (m Meta) Used() int64 { return int64(m.High * m.PageSize) }

// Verified is the result of Verify.
type Verified struct {
	Meta       Meta
	Free       uint64   // pages
	Lost       uint64   // pages neither free nor used, if every page was verified
	Prefetched bool     // the whole file was read into the page cache
	BadMeta    *BadMeta // nil: both meta pages can be read
}

// Verify refuses a file that bbolt must not open. It does not change the file. It verifies every page if that is fast, if bbolt would
// walk them too, or if whole is set.
func Verify(f *os.File, whole bool) (is Verified, err error) { return verify(f, whole, nil) }

// VerifyAll verifies every page of a file and, with contents, every key and value in its buckets.
func VerifyAll(f *os.File, contents func(bucket, key, value []byte) error) error {
	_, err := verify(f, true, contents)
	return err
}

func verify(f *os.File, whole bool, contents func(bucket, key, value []byte) error) (is Verified, err error) {
	info, err := f.Stat()
	if err != nil {
		return is, err
	}
	if !info.Mode().IsRegular() {
		return is, ErrNoFile
	}
	if is.Meta, err = findMeta(f, info.Size()); err != nil {
		return is, err
	}
	meta, used := is.Meta, is.Meta.Used()
	if used > info.Size() {
		return is, fmt.Errorf("it is truncated: %d bytes of %d", info.Size(), used)
	}
	if is.BadMeta, err = examineOther(f, is.Meta); err != nil {
		return is, err
	}
	v := newVerifier(f, meta)
	v.contents = contents
	whole = whole || !meta.closedInOrder() || used <= verifyLimit
	if whole {
		if is.Prefetched = used > prefetchLimit; is.Prefetched {
			if err := prefetch(f, used); err != nil {
				return is, err
			}
		}
		if err := v.tree(meta.root, nil, nil, 0); err != nil {
			return is, err
		}
	}
	is.Free, err = v.freePages()
	if whole && err == nil && meta.closedInOrder() {
		is.Lost = uint64(len(v.unusedPages())) - is.Free
	}
	return is, err
}

func prefetch(f *os.File, size int64) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.NewSectionReader(f, 0, size), make([]byte, 1<<20))
	return err
}

// findMeta returns the newer valid one of the two meta pages. The second is one page into the file, but the page size is only known from the meta
// pages themselves.
func findMeta(f io.ReaderAt, size int64) (best Meta, err error) {
	if size == 0 {
		return best, errors.New("it is empty")
	}
	offsets := []int64{0}
	for at := int64(1024); at <= 64<<10; at *= 2 {
		offsets = append(offsets, at)
	}
	why := ErrForeign
	found := false
	for _, at := range offsets {
		m, err := readMetaPage(f, at)
		switch {
		case err == nil && (at == 0 || at == int64(m.PageSize)):
			if !found || m.txid > best.txid {
				best, found = m, true
			}
		case err != nil && !errors.Is(err, ErrForeign):
			why = err
		}
	}
	if !found {
		return best, why
	}
	return best, best.check()
}

func readMetaPage(f io.ReaderAt, at int64) (m Meta, err error) {
	var b [pageHeader + metaSize]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		if errors.Is(err, io.EOF) {
			return m, ErrForeign
		}
		return m, err
	}
	return parseMeta(b[pageHeader:])
}

// parseMeta reads a meta page's body, and refuses one that is not as it was written.
func parseMeta(body []byte) (m Meta, err error) {
	order := binary.NativeEndian
	if order.Uint32(body) != boltMagic {
		return m, ErrForeign
	}
	if v := order.Uint32(body[4:]); v != boltVersion {
		return m, fmt.Errorf("its pages are of version %d, this program knows version %d", v, boltVersion)
	}
	sum := fnv.New64a()
	_, _ = sum.Write(body[:metaSummed])
	if sum.Sum64() != order.Uint64(body[metaSummed:]) {
		return m, errors.New("its first pages are damaged")
	}
	return fieldsOf(body), nil
}

// fieldsOf reads the fields of a meta page's body, whatever they are.
func fieldsOf(body []byte) Meta {
	order := binary.NativeEndian
	return Meta{
		PageSize: uint64(order.Uint32(body[8:])),
		root:     order.Uint64(body[16:]),
		freelist: order.Uint64(body[32:]),
		High:     order.Uint64(body[40:]),
		txid:     order.Uint64(body[metaTxid:]),
	}
}

func (m Meta) check() error {
	const maxPages = 1 << 40
	sane := m.PageSize >= 1024 && m.PageSize <= 64<<10 && m.PageSize&(m.PageSize-1) == 0 &&
		m.High >= 4 && m.High < maxPages && m.root >= 2 && m.root < m.High &&
		(!m.closedInOrder() || m.freelist >= 2 && m.freelist < m.High)
	if !sane {
		return errors.New("its first pages are damaged")
	}
	return nil
}
