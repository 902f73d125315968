package replica

import "sync"

// readings order consistent reads against bases. A read counts from the instant it began: what it found of a key is
// taken only if the key's base was not set since; else nobody knows which is newer, and the key is read again. That is
// told in memory: of each key whose base was set while a read was on its way, when that was. The answer to a send is such
// a read of one item, begun when it was sent.
type readings struct {
	mu   sync.Mutex
	tick uint64            // counts the bases set
	open map[uint64]int    // begins of reads on their way
	set  map[string]uint64 // by item (itemID): the tick of its base; kept while a read that began before it is open
}

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
	}
}

// overtaken tells, within the transaction that would take what the read found of an item, that its base was set since
// the read began.
func (d *reading) overtaken(item string) bool {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	return d.r.set[item] > d.begin
}

// touch notes that the base of an item is being set. It is called within the transaction: if that is undone, an item is
// read once more than needed.
func (r *readings) touch(item string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick++
	if len(r.open) > 0 {
		r.set[item] = r.tick
	}
}
