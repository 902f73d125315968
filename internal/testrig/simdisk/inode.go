//go:build unix

package simdisk

import "maps"

// sector is what a disk writes completely or not at all; block is what a file system allocates.
const (
	sector = 512
	block  = 4096
)

// inode is a file or a folder, under any number of names.
type inode struct {
	folder  bool
	data    []byte              // as programs see it
	durable []byte              // as it is on disk
	dirty   map[int64][]version // what each sector has held since the last sync, oldest first
	sizes   []sizeAt
	blocks  map[int64]bool // allocated ones
}

type version struct {
	at   int
	data []byte
}

type sizeAt struct {
	at   int
	size int64
}

// missing returns the bytes to allocate before a range can be written.
func (n *inode) missing(from, to int64) (bytes int64) {
	for b := from / block; b*block < to; b++ {
		if !n.blocks[b] {
			bytes += block
		}
	}
	return bytes
}

// occupy allocates a range and returns the bytes allocated.
func (n *inode) occupy(from, to int64) int64 {
	bytes := n.missing(from, to)
	for b := from / block; b*block < to; b++ {
		n.blocks[b] = true
	}
	return bytes
}

// resize changes the size; new bytes are zero.
func (n *inode) resize(size int64, at int) {
	old := int64(len(n.data))
	switch {
	case size == old:
		return
	case size < old:
		clear(n.data[size:])
		n.touch(size, old, at)
		n.data = n.data[:size]
		maps.DeleteFunc(n.blocks, func(b int64, _ bool) bool { return b*block >= size })
	case size <= int64(cap(n.data)):
		n.data = n.data[:size]
		clear(n.data[old:])
	default:
		grown := make([]byte, size, size+size/2)
		copy(grown, n.data)
		n.data = grown
	}
	n.sizes = append(n.sizes, sizeAt{at, size})
}

func (n *inode) write(b []byte, off int64, at int) {
	if end := off + int64(len(b)); end > int64(len(n.data)) {
		n.resize(end, at)
	}
	copy(n.data[off:], b)
	n.touch(off, off+int64(len(b)), at)
}

// touch records what the sectors of a range hold now.
func (n *inode) touch(from, to int64, at int) {
	for s := from / sector; s*sector < to; s++ {
		now := make([]byte, sector)
		copy(now, n.data[s*sector:min((s+1)*sector, int64(len(n.data)))])
		n.dirty[s] = append(n.dirty[s], version{at, now})
	}
}

// sync makes all changes durable.
func (n *inode) sync() {
	n.durable = fit(n.durable, int64(len(n.data)))
	for s := range n.dirty {
		if from := s * sector; from < int64(len(n.data)) {
			copy(n.durable[from:], n.data[from:min(from+sector, int64(len(n.data)))])
		}
	}
	n.clean()
}

func (n *inode) clean() {
	clear(n.dirty)
	n.sizes = nil
}

// image returns the content that survives the given cut. It also returns how many sectors have lost something, and whether a write
// survives in part.
func (n *inode) image(cut cutter) (image []byte, lost int, torn bool) {
	size := int64(len(n.durable))
	if len(n.sizes) > 0 {
		to := cut.size(n.sizes)
		for _, s := range n.sizes {
			if s.at <= to {
				size = s.size
			}
		}
	}
	image = fit(append([]byte(nil), n.durable...), size)
	kept, gone := map[int]bool{}, map[int]bool{}
	for _, s := range sortedKeys(n.dirty) {
		versions := n.dirty[s]
		to := cut.sector(s, versions)
		var chosen []byte
		for _, v := range versions {
			if v.at <= to {
				chosen, kept[v.at] = v.data, true
			} else {
				gone[v.at] = true
			}
		}
		if versions[len(versions)-1].at > to {
			lost++
		}
		if from := s * sector; chosen != nil && from < size {
			copy(image[from:], chosen[:min(sector, size-from)])
		}
	}
	for at := range kept {
		torn = torn || gone[at]
	}
	return image, lost, torn
}

// fit returns b with the given size, padded with zeros.
func fit(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}
