package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// verifier walks the pages of a bbolt file without trusting any of them.
type verifier struct {
	f    io.ReaderAt
	meta Meta
	seen []uint64 // one bit per page, set if the tree uses it
	bufs [][]byte // one per level of the tree

	contents func(bucket, key, value []byte) error // checks the content of the buckets; may be nil
	in       []byte                                // the name of the bucket being walked
}

func newVerifier(f io.ReaderAt, meta Meta) *verifier {
	return &verifier{f: f, meta: meta, seen: make([]uint64, meta.High/64+1)}
}

// maxDepth is more than the depth of any tree of buckets in this store.
const maxDepth = 40

// boltPage is a page and its overflow pages.
type boltPage struct {
	id    uint64
	flags uint16
	count int
	data  []byte
}

func (v *verifier) pageError(id uint64, why string) error {
	return fmt.Errorf("page %d is damaged: %s", id, why)
}

// read reads a page into the buffer of its level, and refuses a page that is already in use.
func (v *verifier) read(id uint64, level int) (p boltPage, err error) {
	if id < 2 || id >= v.meta.High {
		return p, v.pageError(id, "there is no such page")
	}
	size := int64(v.meta.PageSize)
	data := v.buffer(level, size)
	if _, err := v.f.ReadAt(data, int64(id)*size); err != nil {
		return p, v.pageError(id, err.Error())
	}
	order := binary.NativeEndian
	overflow := uint64(order.Uint32(data[12:]))
	if order.Uint64(data) != id {
		return p, v.pageError(id, "it has another page number")
	}
	if overflow >= v.meta.High-id {
		return p, v.pageError(id, "it extends beyond the end of the file")
	}
	for n := id; n <= id+overflow; n++ {
		if v.seen[n/64]&(1<<(n%64)) != 0 {
			return p, v.pageError(n, "it is used twice")
		}
		v.seen[n/64] |= 1 << (n % 64)
	}
	if overflow > 0 {
		data = v.buffer(level, int64(overflow+1)*size)
		if _, err := v.f.ReadAt(data, int64(id)*size); err != nil {
			return p, v.pageError(id, err.Error())
		}
	}
	return boltPage{id: id, flags: order.Uint16(data[8:]), count: int(order.Uint16(data[10:])), data: data}, nil
}

func (v *verifier) buffer(level int, size int64) []byte {
	for len(v.bufs) <= level {
		v.bufs = append(v.bufs, nil)
	}
	if int64(cap(v.bufs[level])) < size {
		v.bufs[level] = make([]byte, size)
	}
	return v.bufs[level][:size]
}

// tree walks a page and all pages below it. Its keys must be from low, inclusive, to high, exclusive; nil means no bound.
func (v *verifier) tree(id uint64, low, high []byte, level int) error {
	if level > maxDepth {
		return v.pageError(id, "the tree does not end")
	}
	p, err := v.read(id, level)
	if err != nil {
		return err
	}
	switch p.flags {
	case pageBranch:
		return v.branch(p, low, high, level)
	case pageLeaf:
		return v.leaf(p, low, high, level)
	}
	return v.pageError(id, "it is neither branch nor leaf")
}

func (v *verifier) branch(p boltPage, low, high []byte, level int) error {
	if p.count == 0 {
		return v.pageError(p.id, "it is an empty branch")
	}
	keys := make([][]byte, p.count)
	children := make([]uint64, p.count)
	for i := range keys {
		e, err := v.element(p, i)
		if err != nil {
			return err
		}
		keys[i], children[i] = e.key, e.child
	}
	if err := v.checkOrder(p, keys, low, high); err != nil {
		return err
	}
	for i, child := range children {
		end := high
		if i+1 < len(keys) {
			end = keys[i+1]
		}
		if err := v.tree(child, keys[i], end, level+1); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) leaf(p boltPage, low, high []byte, level int) error {
	keys := make([][]byte, p.count)
	type named struct {
		name []byte
		root uint64
	}
	var roots []named
	for i := range keys {
		e, err := v.element(p, i)
		if err != nil {
			return err
		}
		keys[i] = e.key
		if !e.bucket {
			if err := v.content(e); err != nil {
				return err
			}
			continue
		}
		v.in = e.key
		root, err := v.bucket(p, e.value)
		if err != nil {
			return err
		}
		if root != 0 {
			roots = append(roots, named{e.key, root})
		}
	}
	if err := v.checkOrder(p, keys, low, high); err != nil {
		return err
	}
	for _, r := range roots {
		v.in = r.name
		if err := v.tree(r.root, nil, nil, level+1); err != nil {
			return err
		}
	}
	return nil
}

// content checks an element's content.
func (v *verifier) content(e boltElement) error {
	if v.contents == nil {
		return nil
	}
	return v.contents(v.in, e.key, e.value)
}

// bucket checks a value that is a bucket. It returns the bucket's root page, or 0 if its page is inline in the value.
func (v *verifier) bucket(p boltPage, value []byte) (root uint64, err error) {
	if len(value) < bucketHeader {
		return 0, v.pageError(p.id, "a bucket is truncated")
	}
	order := binary.NativeEndian
	if root = order.Uint64(value); root != 0 {
		return root, nil
	}
	inner := boltPage{id: p.id, data: value[bucketHeader:]}
	if len(inner.data) < pageHeader {
		return 0, v.pageError(p.id, "a bucket is truncated")
	}
	inner.flags = order.Uint16(inner.data[8:])
	inner.count = int(order.Uint16(inner.data[10:]))
	if inner.flags != pageLeaf {
		return 0, v.pageError(p.id, "a bucket is not a leaf")
	}
	keys := make([][]byte, inner.count)
	for i := range keys {
		e, err := v.element(inner, i)
		if err != nil {
			return 0, err
		}
		if e.bucket {
			return 0, v.pageError(p.id, "it has a nested bucket")
		}
		if err := v.content(e); err != nil {
			return 0, err
		}
		keys[i] = e.key
	}
	return 0, v.checkOrder(inner, keys, nil, nil)
}

type boltElement struct {
	key, value []byte
	child      uint64 // of a branch page
	bucket     bool   // of a leaf page
}

// element decodes the i-th element of a page. On a branch page it is position 4, key size 4, child 8; on a leaf page flags 4, position 4,
// key size 4, value size 4. Positions are relative to the element.
func (v *verifier) element(p boltPage, i int) (e boltElement, err error) {
	at := uint64(pageHeader + i*elementSize)
	if at+elementSize > uint64(len(p.data)) {
		return e, v.pageError(p.id, "its elements do not fit into the page")
	}
	order, head := binary.NativeEndian, p.data[at:at+elementSize]
	var pos, keySize, valueSize uint64
	if p.flags == pageBranch {
		pos, keySize = uint64(order.Uint32(head)), uint64(order.Uint32(head[4:]))
		e.child = order.Uint64(head[8:])
	} else {
		e.bucket = order.Uint32(head)&elementBucket != 0
		pos, keySize = uint64(order.Uint32(head[4:])), uint64(order.Uint32(head[8:]))
		valueSize = uint64(order.Uint32(head[12:]))
	}
	start := at + pos
	if keySize == 0 || start+keySize+valueSize > uint64(len(p.data)) {
		return e, v.pageError(p.id, "an element is outside of the page")
	}
	e.key = p.data[start : start+keySize]
	e.value = p.data[start+keySize : start+keySize+valueSize]
	return e, nil
}

func (v *verifier) checkOrder(p boltPage, keys [][]byte, low, high []byte) error {
	for i, key := range keys {
		switch {
		case i > 0 && bytes.Compare(keys[i-1], key) >= 0:
		case i == 0 && bytes.Compare(key, low) < 0:
		case high != nil && bytes.Compare(key, high) >= 0:
		default:
			continue
		}
		return v.pageError(p.id, "its keys are out of order")
	}
	return nil
}

// freePages returns the number of free pages. In a cleanly closed file it takes them from the free list, which it verifies; in any other
// file they are those that the tree, already walked, does not use.
func (v *verifier) freePages() (uint64, error) {
	if v.meta.closedInOrder() {
		return v.freelist()
	}
	return uint64(len(v.unusedPages())), nil
}

// unusedPages returns the pages that the tree does not use, in ascending order.
func (v *verifier) unusedPages() (ids []uint64) {
	for id := uint64(2); id < v.meta.High; id++ { // the first two are the meta pages
		if v.seen[id/64]&(1<<(id%64)) == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// freelist verifies the free list of a cleanly closed file and returns the number of pages on it. Only if the tree has been walked can it
// detect pages that are both free and used.
func (v *verifier) freelist() (uint64, error) {
	p, err := v.read(v.meta.freelist, 0)
	if err != nil {
		return 0, err
	}
	order, ids := binary.NativeEndian, p.data[pageHeader:]
	count := uint64(p.count)
	if count == manyFree {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if p.flags != pageFreelist || count > uint64(len(ids)/8) {
		return 0, v.pageError(p.id, "it is not a free list")
	}
	last := uint64(1)
	for i := range count {
		id := order.Uint64(ids[i*8:])
		if id <= last || id >= v.meta.High || v.seen[id/64]&(1<<(id%64)) != 0 {
			return 0, v.pageError(p.id, "the free list names a page that is not free")
		}
		last = id
	}
	return count, nil
}
