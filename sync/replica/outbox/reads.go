package outbox

import (
	"slices"
	"sync"
)

// Reads orders consistent reads against bases. A read counts from the instant it began: its result for a key is taken only if the
// key's base was not set since. Otherwise nobody knows which is newer, and the key is read again. For that, memory holds when each
// base was set while a read was on its way. The answer to a send is such a read of one item, begun when the send left. Beyond
// MaxSets bases the oldest are forgotten, and results of reads that began before them are read again.
type Reads struct {
	mu     sync.Mutex
	tick   uint64            // number of bases set so far
	Open   map[uint64]int    // by starting tick: reads on their way
	Set    map[string]uint64 // by item id: tick of its last base; kept while a read is open
	Sets   []baseSet         // the same, in order
	forgot uint64            // tick of the last forgotten one
}

// baseSet records that a base was set.
type baseSet struct {
	tick uint64
	item string
}

// MaxSets bounds what is remembered while workers always have a request on its way. Rarely are more bases set before an answer.
const MaxSets = 1 << 15

// Read is one consistent read on its way.
type Read struct {
	r     *Reads
	begin uint64
}

// NewReads returns an empty Reads.
func NewReads() *Reads {
	return &Reads{Open: map[uint64]int{}, Set: map[string]uint64{}}
}

// Start registers a read before its request leaves. Call End on the result.
func (r *Reads) Start() *Read {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Open[r.tick]++
	return &Read{r: r, begin: r.tick}
}

// End forgets the read. Call it after the transaction that used its result.
func (d *Read) End() {
	r := d.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Open[d.begin]--; r.Open[d.begin] == 0 {
		delete(r.Open, d.begin)
	}
	if len(r.Open) == 0 {
		clear(r.Set)
		clear(r.Sets)
		r.Sets = r.Sets[:0]
	}
}

// Overtaken reports whether an item's base was set since the read began. Call it within the transaction that would use the
// read's result.
func (d *Read) Overtaken(item string) bool {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	return d.begin < d.r.forgot || d.r.Set[item] > d.begin
}

// Touch records that an item's base is being set. Call it within the transaction; if that is undone, the item is merely read once
// more than needed.
func (r *Reads) Touch(item string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick++
	if len(r.Open) == 0 {
		return
	}
	r.Set[item] = r.tick
	r.Sets = append(r.Sets, baseSet{r.tick, item})
	if len(r.Sets) > MaxSets {
		r.forget(MaxSets / 4)
	}
}

// forget drops the n oldest records.
func (r *Reads) forget(n int) {
	for _, s := range r.Sets[:n] {
		if r.Set[s.item] == s.tick {
			delete(r.Set, s.item)
		}
	}
	r.forgot = r.Sets[n-1].tick
	r.Sets = slices.Delete(r.Sets, 0, n)
}
