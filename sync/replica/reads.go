package replica

import (
	"slices"
	"sync"
)

// readings order consistent reads against bases. A read counts from the instant it began: what it found of a key is
// taken only if the key's base was not set since; else nobody knows which is newer, and the key is read again. That is
// told in memory: of each key whose base was set while a read was on its way, when that was. The answer to a send is such
// a read of one item, begun when it was sent. Of more bases than maxSets the first are forgotten: what is found by a read that
// began before is read again.
type readings struct {
	mu     sync.Mutex
	tick   uint64            // counts the bases set
	open   map[uint64]int    // begins of reads on their way
	set    map[string]uint64 // by item (itemID): the tick of its base; kept while a read is open
	sets   []baseSet         // the same in their order
	forgot uint64            // the tick of the last one that was forgotten
}

// baseSet is the setting of a base.
type baseSet struct {
	tick uint64
	item string
}

// maxSets bounds what is remembered while lanes always have a request on its way. More are seldom set before one is answered.
const maxSets = 1 << 15

// reading is one consistent read on its way.
type reading struct {
	r     *readings
	begin uint64
}

func newReadings() *readings {
	return &readings{open: map[uint64]int{}, set: map[string]uint64{}}
}

// start registers a read, before its request leaves. It is ended by end.
func (r *readings) start() *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[r.tick]++
	return &reading{r: r, begin: r.tick}
}

// end forgets the read. What it found has been taken, in a transaction that is over.
func (d *reading) end() {
	r := d.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[d.begin]--; r.open[d.begin] == 0 {
		delete(r.open, d.begin)
	}
	if len(r.open) == 0 {
		clear(r.set)
		clear(r.sets)
		r.sets = r.sets[:0]
	}
}

// overtaken tells, within the transaction that would take what the read found of an item, that its base was set since
// the read began.
func (d *reading) overtaken(item string) bool {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	return d.begin < d.r.forgot || d.r.set[item] > d.begin
}

// touch notes that the base of an item is being set. It is called within the transaction: if that is undone, an item is
// read once more than needed.
func (r *readings) touch(item string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick++
	if len(r.open) == 0 {
		return
	}
	r.set[item] = r.tick
	r.sets = append(r.sets, baseSet{r.tick, item})
	if len(r.sets) > maxSets {
		r.forget(maxSets / 4)
	}
}

// forget lets the first n settings go.
func (r *readings) forget(n int) {
	for _, s := range r.sets[:n] {
		if r.set[s.item] == s.tick {
			delete(r.set, s.item)
		}
	}
	r.forgot = r.sets[n-1].tick
	r.sets = slices.Delete(r.sets, 0, n)
}
