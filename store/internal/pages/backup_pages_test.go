package pages

import (
	"bytes"
	"fmt"
	"testing"
)

// The free list has another form if its length does not fit the header of a page. What is written is read back correctly, and so are the
// meta pages.
func TestFreelistPages(t *testing.T) {
	for _, n := range []uint64{0, 1, 510, 511, 512, manyFree - 1, manyFree, manyFree + 1, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := SnapshotWriter{Meta: Meta{PageSize: 4096, root: 3, sequence: 7, freelist: boltNoFreelist, High: n + 5, txid: 42}}
			w.ReserveFreelist()
			ids := make([]uint64, n)
			for i := range ids {
				ids[i] = uint64(i) + 4
			}
			file := sparse{head: append(w.Meta.page(0), w.Meta.page(1)...), tail: freelistPages(w.Meta, ids)}
			file.at = int64(w.Meta.freelist) * 4096
			size := file.at + int64(len(file.tail))
			meta, err := findMeta(file, size)
			if err != nil || meta != w.Meta || meta.Used() != size {
				t.Fatalf("%+v is read as %+v, %v", w.Meta, meta, err)
			}
			if got, err := newVerifier(file, meta).freelist(); err != nil || got != n {
				t.Errorf("%d pages are read as %d, %v", n, got, err)
			}
		})
	}
}

// sparse is a file with nothing but zeros between its head and its tail, which starts at an offset.
type sparse struct {
	head, tail []byte
	at         int64
}

func (s sparse) ReadAt(b []byte, at int64) (int, error) {
	if at >= s.at {
		return bytes.NewReader(s.tail).ReadAt(b, at-s.at)
	}
	clear(b)
	if at < int64(len(s.head)) {
		copy(b, s.head[at:])
	}
	if behind := at + int64(len(b)) - s.at; behind > 0 {
		copy(b[int64(len(b))-behind:], s.tail)
	}
	return len(b), nil
}
