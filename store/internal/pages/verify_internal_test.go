package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// The number of pages on a free list is in front of the list if it does not fit the header of a page.
func TestFreelist(t *testing.T) {
	for _, n := range []uint64{0, 1, 510, 511, 512, manyFree - 1, manyFree, manyFree + 1, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			const size, at = 4096, 2
			order, list := binary.NativeEndian, []uint64{}
			head := make([]byte, pageHeader)
			order.PutUint64(head, at)
			order.PutUint16(head[8:], pageFreelist)
			order.PutUint16(head[10:], uint16(min(n, manyFree)))
			if n >= manyFree {
				list = append(list, n)
			}
			meta := Meta{PageSize: size, root: 3, freelist: at, High: n + 500}
			for i := range n {
				list = append(list, meta.High-n+i)
			}
			pages := (pageHeader + 8*len(list) + size - 1) / size
			order.PutUint32(head[12:], uint32(pages-1))
			file := append(make([]byte, at*size), head...)
			for _, id := range list {
				file = order.AppendUint64(file, id)
			}
			file = append(file, make([]byte, (at+pages)*size-len(file))...)
			if got, err := newVerifier(bytes.NewReader(file), meta).freelist(); err != nil || got != n {
				t.Errorf("%d pages are read as %d, %v", n, got, err)
			}
			if n == 0 {
				return
			}
			order.PutUint64(file[at*size+pageHeader+8*(len(list)-1):], meta.High)
			if _, err := newVerifier(bytes.NewReader(file), meta).freelist(); err == nil {
				t.Error("a page behind the end of the file is free")
			}
		})
	}
}
