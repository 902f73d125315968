//go:build unix

package simdisk

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cutter decides how much of each part of the disk survives a power failure: all its changes up to an instant.
type cutter struct {
	rng   *rand.Rand
	all   int   // if not negative, one instant for everything
	keep  int   // otherwise: how many of eight parts are complete
	group int64 // number of sectors that share a fate
	fates map[int64]int
	last  int  // the newest change of all
	mind  bool // the newest change survives
}

// newCutter chooses how the power fails: nothing unsynced survives, everything does, everything up to an instant, pages or sectors in any
// order, or the newest write before all others.
func newCutter(rng *rand.Rand, now int) cutter {
	c := cutter{rng: rng, all: -1, keep: 1 + rng.IntN(7), group: 1, last: now}
	switch rng.IntN(8) {
	case 0:
		c.all = 0
	case 1:
		c.all = math.MaxInt
	case 2:
		c.all = rng.IntN(now + 1)
	case 3, 4:
		c.group = block / sector
	case 5:
		c.mind = true
	}
	return c
}

// file returns a cutter for the next file.
func (c cutter) file() cutter {
	c.fates = map[int64]int{}
	return c
}

// of returns the instant up to which changes survive, given their instants.
func (c cutter) of(ats []int) int {
	switch {
	case c.all >= 0:
		return c.all
	case c.mind && ats[len(ats)-1] == c.last, c.rng.IntN(8) < c.keep:
		return math.MaxInt
	}
	if i := c.rng.IntN(len(ats) + 1); i > 0 {
		return ats[i-1]
	}
	return 0
}

func (c cutter) sector(s int64, versions []version) int {
	if to, ok := c.fates[s/c.group]; ok {
		return to
	}
	ats := make([]int, len(versions))
	for i, v := range versions {
		ats[i] = v.at
	}
	to := c.of(ats)
	c.fates[s/c.group] = to
	return to
}

func (c cutter) size(sizes []sizeAt) int {
	ats := make([]int, len(sizes))
	for i, s := range sizes {
		ats[i] = s.at
	}
	return c.of(ats)
}

// PowerCut turns the power off, if it is still on, and writes what survives to an empty folder.
func (d *Disk) PowerCut(to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	cut := newCutter(d.rng, d.now)
	names := d.namesAfter(cut)
	written := map[*inode]string{}
	for _, path := range sortedKeys(names) {
		node := names[path]
		rest, err := filepath.Rel(d.root, path)
		if err != nil {
			return err
		}
		if parent := filepath.Dir(path); parent != d.root && names[parent] == nil {
			continue // its folder is lost
		}
		if err := d.put(node, filepath.Join(to, rest), written, cut); err != nil {
			return err
		}
	}
	return nil
}

func (d *Disk) put(node *inode, path string, written map[*inode]string, cut cutter) error {
	if node.folder {
		return d.real.Mkdir(path, 0o700)
	}
	if first, ok := written[node]; ok {
		return d.real.Link(first, path)
	}
	written[node] = path
	image, lost, torn := node.image(cut.file())
	d.seen.Lost += lost
	if torn {
		d.seen.Torn++
	}
	f, err := d.real.Open(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := d.real.Write(f, image, 0); err != nil {
		return err
	}
	return f.Close()
}

// namesAfter returns the surviving names: of each folder, the changes up to some instant, in order.
func (d *Disk) namesAfter(cut cutter) map[string]*inode {
	names := maps.Clone(d.durable)
	instants := map[string][]int{}
	for _, c := range d.changes {
		instants[c.folder] = append(instants[c.folder], c.at)
	}
	until := map[string]int{}
	for _, folder := range sortedKeys(instants) {
		until[folder] = cut.of(instants[folder])
	}
	for _, c := range d.changes {
		if c.at <= until[c.folder] {
			c.apply(names)
		}
	}
	return names
}

func (c change) apply(names map[string]*inode) {
	if c.remove != "" {
		delete(names, c.remove)
		for path := range names {
			if strings.HasPrefix(path, c.remove+string(filepath.Separator)) {
				delete(names, path)
			}
		}
	}
	if c.add != "" {
		names[c.add] = c.node
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
