package outbox

import (
	"slices"
	"sync"
)

// Reads order consistent reads against bases. A read counts from the instant it began: what it found of a key is
// taken only if the key's base was not set since; else nobody knows which is newer, and the key is read again. That is
// told in memory: of each key whose base was set while a read was on its way, when that was. The answer to a send is such
// a read of one item, begun when it was sent. Of more bases than MaxSets the first are forgotten: what is found by a read that
// began before is read again.
type Reads struct {
	mu     sync.Mutex
	tick   uint64            // counts the bases set
	Open   map[uint64]int    // begins of reads on their way
	Set    map[string]uint64 // by item (itemID): the tick of its base; kept while a read is open
	Sets   []baseSet         // the same in their order
	forgot uint64            // the tick of the last one that was forgotten
}

// baseSet is the setting of a base.
type baseSet struct {
	tick uint64
	item string
}

// MaxSets bounds what is remembered while lanes always have a request on its way. More are seldom set before one is answered.
const MaxSets = 1 << 15

// Read is one consistent read on its way.
type Read struct {
	r     *Reads
	begin uint64
}

// NewReads returns an order without reads.
func NewReads() *Reads {
	return &Reads{Open: map[uint64]int{}, Set: map[string]uint64{}}
}

// Start registers a read, before its request leaves. It is ended by end.
func (r *Reads) Start() *Read {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Open[r.tick]++
	return &Read{r: r, begin: r.tick}
}

// End forgets the read, after the transaction that took its result is over.
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

// Overtaken tells, within the transaction that would take what the read found of an item, that its base was set since
// the read began.
func (d *Read) Overtaken(item string) bool {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	return d.begin < d.r.forgot || d.r.Set[item] > d.begin
}

// Touch notes that the base of an item is being set. It is called within the transaction: if that is undone, an item is
// read once more than needed.
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

// forget lets the first n settings go.
func (r *Reads) forget(n int) {
	for _, s := range r.Sets[:n] {
		if r.Set[s.item] == s.tick {
			delete(r.Set, s.item)
		}
	}
	r.forgot = r.Sets[n-1].tick
	r.Sets = slices.Delete(r.Sets, 0, n)
}
