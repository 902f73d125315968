package store

import (
	"bytes"
	"fmt"
	"testing"
)

// The free list has another form where its length does not fit the header of a page. What is written is read as it
// was meant, and the meta pages too.
func TestFreelistPages(t *testing.T) {
	for _, n := range []uint64{0, 1, 510, 511, 512, manyFree - 1, manyFree, manyFree + 1, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := snapshotWriter{meta: boltMeta{pageSize: 4096, root: 3, sequence: 7, freelist: boltNoFreelist, high: n + 5, txid: 42}}
			w.reserveFreelist()
			ids := make([]uint64, n)
			for i := range ids {
				ids[i] = uint64(i) + 4
			}
			raw := append(w.meta.page(0), w.meta.page(1)...)
			raw = append(raw, make([]byte, int(w.meta.freelist)*4096-len(raw))...)
			raw = append(raw, freelistPages(w.meta, ids)...)
			meta, err := findMeta(bytes.NewReader(raw), int64(len(raw)))
			if err != nil || meta != w.meta || meta.used() != int64(len(raw)) {
				t.Fatalf("%+v is read as %+v, %v", w.meta, meta, err)
			}
			if got, err := newVerifier(bytes.NewReader(raw), meta).freelist(); err != nil || got != n {
				t.Errorf("%d pages are read as %d, %v", n, got, err)
			}
		})
	}
}
