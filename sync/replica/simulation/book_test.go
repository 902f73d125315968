package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// book is what the simulation knows: what was acknowledged to applications, and every effect in the cloud. It judges effects as they
// happen, and the account at the end.
type book struct {
	s *sim

	mu        sync.Mutex
	acts      []*act
	bySeq     map[string]*act        // "node seq"
	effects   map[string][]effectAt  // "node seq": effects under the entry's mark, except its closing
	sent      map[sending]uint64     // the next effect when it was first sent, as far as anybody knows
	tries     map[sending]int        // number of sends
	timelines map[string][]int       // node: the timelines its disk has come through after the first, the present one last
	begun     int                    // timelines begun, of all nodes
	digits    map[string]string      // "node seq": nine digits, never changing
	last      map[string]uint64      // "node table key": highest sequence that had an effect
	lastN     map[string]uint64      // and which
	plain     map[string]uint64      // like last, without renumbered ones
	plainN    map[string]uint64      // and which
	images    map[string][]imageAt   // "table key"
	shown     map[string][]time.Time // ids that an effect has brought into the cloud, and when
	first     map[string]uint64      // and which effect did so
	latest    uint64                 // the last effect
	left      map[string]int         // node: number of requests with a mark that have left it
	leftAt    map[string]time.Time   // "node seq": when it was last sent
	rows      map[string]int         // node: how often its row in the cloud was written
	back      map[string]uint64      // node: the last effect when it was restored to a snapshot
	issued    map[string]bool        // ids that somebody wrote
	foreign   map[string]int64       // counter: what foreign writers have added
	locks     lockBook
	writers   map[string]string // "match fence": who wrote under it
	owed      map[string]owing  // "match ball": the state that came before its event
	cloned    map[string]bool   // nodes that ran twice at once
	cut       map[string]uint64 // item: the last time a foreign writer or the TTL removed its marks
	epoch     int               // how often the cloud was restored
	backs     []cloudBack       // and when, to what

	seen
}

type changeAt struct {
	n   uint64
	key attr.Item
}

// cloudBack is one restore of the cloud.
type cloudBack struct{ when, to time.Time }

type effectAt struct {
	n     uint64
	at    time.Time
	item  string
	delta int64
	plain bool // on a foreign life that nobody had named
	anew  bool // with one begun by a foreign writer since it was first sent
	made  bool // the item
}

type imageAt struct {
	n    uint64
	at   time.Time
	text string
}

func newBook(s *sim) *book {
	return &book{
		s: s, bySeq: map[string]*act{}, effects: map[string][]effectAt{}, sent: map[sending]uint64{}, tries: map[sending]int{}, timelines: map[string][]int{}, digits: map[string]string{},
		last: map[string]uint64{}, images: map[string][]imageAt{}, shown: map[string][]time.Time{}, issued: map[string]bool{},
		foreign: map[string]int64{}, locks: newLockBook(), writers: map[string]string{}, owed: map[string]owing{},
		first: map[string]uint64{}, left: map[string]int{}, leftAt: map[string]time.Time{}, rows: map[string]int{}, back: map[string]uint64{}, plainN: map[string]uint64{},
		lastN: map[string]uint64{}, plain: map[string]uint64{}, cut: map[string]uint64{}, cloned: map[string]bool{},
		seen: newSeen(),
	}
}

func (b *book) acknowledge(a *act) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fmt.Sprintf("%s %d", a.node, a.seq)
	if old := b.bySeq[key]; old != nil && !old.gone && !old.maybe && !b.cloned[a.node] {
		b.s.violate("%s gave sequence %d twice: %s and %s", a.node, a.seq, old.what, a.what)
	}
	a.after, a.at = b.latest, time.Now()
	b.bySeq[key] = a
	b.acts = append(b.acts, a)
	item := a.node + " " + a.table + " " + keyText(a.key)
	b.ofItem[item] = append(b.ofItem[item], a)
}

// lostRuns is putBack for a clone.
func (b *book) lostRuns(node string, run int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.acts {
		if a.node == node && a.run == run {
			a.gone = true
		}
	}
}

// clones withdraws the promises of a node that runs twice: both copies give the same sequences to different writes.
func (b *book) clones(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cloned[node] = true
}

func (b *book) foreignCounts(counter string, k int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.foreign[counter] += k
}

func (b *book) restored(to time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.epoch++
	clear(b.noticed)
	b.backs = append(b.backs, cloudBack{when: time.Now(), to: to})
}

// lastRestore returns the instant that the cloud was last restored to.
func (b *book) lastRestore() (to time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.backs) == 0 {
		return to, false
	}
	return b.backs[len(b.backs)-1].to, true
}

// stands reports whether something that happened in the cloud has not been undone by a restore. At each restore the cloud went back to its
// state at another instant, and what stood then stands again.
func (b *book) stands(at time.Time) bool {
	seen := time.Now()
	for _, back := range slices.Backward(b.backs) {
		if back.when.After(seen) {
			continue // of a period that was itself undone
		}
		if at.After(back.when) {
			break
		}
		seen = back.to
	}
	return !at.After(seen)
}

// had reports whether a write has had an effect that stands. A lost timeline may have given its number to another write: effects on other
// items, or from before it was written, belong to that one.
func (b *book) had(a *act) bool {
	item := a.table + " " + keyText(a.key)
	return slices.ContainsFunc(b.effects[fmt.Sprintf("%s %d", a.node, a.seq)], func(e effectAt) bool {
		return e.item == item && e.n > a.after && b.stands(e.at)
	})
}

// markParts splits a mark: "<node> <seq>.<nine digits>", and a tenth digit if it closes.
func markParts(mark string) (entry, digits string, seq uint64, closes bool) {
	node, number, _ := strings.Cut(mark, " ")
	whole, fraction, _ := strings.Cut(number, ".")
	for len(fraction) < 9 {
		fraction += "0"
	}
	_, _ = fmt.Sscan(whole, &seq)
	return fmt.Sprintf("%s %d", node, seq), fraction[:9], seq, len(fraction) > 9
}

// sends is called for each write about to be sent.
func (s *sim) sends(mark string, c *intent.Call) {
	s.book.sends(mark, c)
	for _, n := range s.nodes {
		if !strings.HasPrefix(mark, n.name+" ") {
			continue
		}
		n.heedsStop(c.Table)
		if n.pausesNext.CompareAndSwap(true, false) {
			s.trace("%s pauses in mid-send", n.name)
			n.pause(25*time.Second, false)
		}
	}
}

// sends records that an entry has left its node.
func (b *book) sends(mark string, c *intent.Call) {
	b.s.detail("%s sends %s %s%s %s item %s update %q if %q %v %s", mark, c.Op, c.Table, keyText(c.Key), keyText(c.Item),
		image(c.Item), c.Update, c.Condition, c.Names, image(c.Values))
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.Table == simLocks {
		b.locks.sent[c.Values[":rvn"].Str()] = time.Now()
	}
	if mark == "" {
		return
	}
	as, node := b.sendingOf(mark, c)
	b.left[node]++
	b.leftAt[as.entry] = time.Now()
	b.tries[as]++
	if b.sent[as] == 0 {
		b.sent[as] = b.latest + 1
	}
	if c.Values[":x"].IsZero() { // no mark is closed
		b.goesOn[as.entry+" "+as.item] = b.latest + 1
	}
	b.guarded(as, c)
	if life := begun(c); life != "" {
		b.named[as.entry+" "+as.item] = life
	}
}

// effect judges one change in the cloud.
func (b *book) effect(e *simcloud.Effect) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest = e.N
	b.s.trace("cloud #%d %s %s %s by %s %s", e.N, e.Op, e.Table, keyText(e.Key), e.By, e.Mark)
	switch e.Table {
	case simLocks:
		b.lock(e)
		return
	case simSync:
		b.row(e)
		return
	}
	item := e.Table + " " + keyText(e.Key)
	if b.changed[e.Table] == nil {
		b.changed[e.Table] = map[string]changeAt{}
	}
	b.changed[e.Table][item] = changeAt{n: e.N, key: e.Key}
	b.becomes(e, item)
	shown, _ := intent.Split(e.New)
	b.images[item] = append(b.images[item], imageAt{n: e.N, at: e.At, text: imageText(shown)})
	b.values(e)
	if e.By == "restore" {
		b.rewind(e, item)
		return
	}
	cuts := e.By == "foreign" && (e.Op != store.OpUpdate || e.Old == nil) || e.By == "ttl" // a recreated item has no marks either
	b.lived(e, item, cuts)
	if turn := e.New[intent.AttrTurn]; !turn.IsZero() && !turn.Equal(e.Old[intent.AttrTurn]) {
		b.s.net.Count("a Put asked for its turn")
	}
	b.leaves(e)
	if e.Mark == "" {
		if cuts {
			b.cut[item] = e.N
		}
		return
	}
	mark := e.Mark
	if there := e.New[intent.AttrMark+e.By]; strings.HasPrefix(e.By+" "+there.Str(), mark) {
		mark = e.By + " " + there.Str() // a closing mark has a digit more than its condition names
	}
	entry, digits, seq, closes := markParts(mark)
	if d, ok := b.digits[entry]; ok && d != digits && !b.cloned[e.By] {
		b.s.violate("sequence reused: %s has had digits %s and %s", entry, d, digits)
	}
	b.digits[entry] = digits
	b.carries(e, item)
	b.takes(e, item)
	b.marked(e, item, entry, seq, closes)
	switch {
	case closes:
	case e.Table == "matches":
		b.state(e)
	case e.Table == "events" && e.New != nil && e.Old == nil:
		b.writesUnder(e.Key["pk"].Str(), e.New["_f"].Str(), e.By)
	}
}

// marked judges an effect under an entry's mark: at most once, in the item's order, never after the mark was closed.
func (b *book) marked(e *simcloud.Effect, item, entry string, seq uint64, closes bool) {
	nodeItem := e.By + " " + item
	// After a restore of the cloud, writes are sent again and may meet another life.
	strict := b.epoch == 0 && !b.cloned[e.By]
	if sent := b.firstSent(entry, item); b.cut[item] > b.lastN[nodeItem] || e.Old == nil && sent > 0 && b.cut[item] >= sent {
		// Accepted: a foreign writer's delete or replacement removes the marks, as the TTL does, so nothing identifies the repeat of an
		// unanswered write; also before a delete, between two copies of one create.
		strict = false
	}
	last := b.last[nodeItem]
	accepted := closes || // no reader sees it, so the queue of a restored snapshot may close late
		b.ofLostTime(e, entry, item) || b.unsentThere(e, entry, nodeItem) || b.behindRenumbered(e, nodeItem, seq) || b.copied(e, entry, item) || b.forgotten(e, entry, item, nodeItem, seq)
	if strict && last > seq && !accepted {
		b.s.violate("order: %s had an effect on %s after sequence %d", entry, item, last)
	}
	b.wrote(e, nodeItem, seq, closes)
	b.last[nodeItem], b.lastN[nodeItem] = seq, e.N
	switch {
	case closes:
		b.s.net.Count("mark closed")
		b.closed[nodeItem] = closedAt{e.N, seq, e.New[intent.AttrLife].Str()}
		b.last[nodeItem] = seq + 1 // its entry may have no further effect
		if strict {
			b.last[nodeItem] = max(last, seq+1)
		}
		return
	case e.Op == store.OpDelete && renumbered(seq):
		// It was written before everything that waits behind it, and a create up to the fork keeps its number there: the lost timeline
		// may have sent it, and its tombstone has that number.
		b.last[nodeItem], b.lastN[nodeItem] = b.plain[nodeItem], b.plainN[nodeItem]
	case !renumbered(seq) && seq > b.plain[nodeItem]:
		b.plain[nodeItem], b.plainN[nodeItem] = seq, e.N
	}
	for _, was := range b.effects[entry] {
		// Accepted: on a foreign life without a name, an unanswered update is sent again if what it touches is as it was before. That
		// life may have ended, and a foreign writer may have begun another.
		if b.proofs() && !b.cloned[e.By] && was.made && was.item == item {
			b.s.violate("came back: %s has made %s with #%d, and has the effect #%d there", entry, item, was.n, e.N)
		}
		if strict && was.item == item && b.cut[item] < was.n && !(was.plain && unnamed(e.Old)) {
			b.s.violate("twice: %s had effects #%d and #%d on %s", entry, was.n, e.N, item)
		}
	}
	was, _ := e.Old["n"].Int()
	is, _ := e.New["n"].Int()
	b.effects[entry] = append(b.effects[entry], effectAt{
		n: e.N, at: e.At, item: item, delta: is - was, plain: unnamed(e.Old), made: e.Old == nil, anew: b.cut[item] >= b.firstSent(entry, item),
	})
	a := b.bySeq[entry]
	if strict {
		b.putWhole(e, a)
		b.onItsLife(e, a, item)
		b.broughtOnce(e, item)
	}
	if a != nil && e.Op == store.OpUpdate && e.Old == nil && !a.gone && strict && !b.begins(a) {
		b.s.violate("skeleton: %s (%s) made an item of %s that was deleted", entry, a.what, item)
	}
}

// renumbered reports whether a sequence is in the upper half of an incarnation, which is reserved for what waited when a timeline was
// lost.
func renumbered(seq uint64) bool { return seq>>39&1 == 1 }

// begins reports whether a write, or one folded into it, was made where no item existed.
func (b *book) begins(a *act) bool {
	for _, other := range b.acts {
		if other == a || other.node == a.node && other.table == a.table && other.seq < a.seq && attr.EqualItems(other.key, a.key) &&
			!b.hasSent(other) {
			if other.upsert {
				return true
			}
		}
	}
	return false
}

// rewind resets an item's order to the marks of its restored image.
func (b *book) rewind(e *simcloud.Effect, item string) {
	for _, n := range b.s.nodes {
		nodeItem := n.name + " " + item
		delete(b.last, nodeItem)
		if mark := e.New[intent.AttrMark+n.name]; !mark.IsZero() {
			_, _, seq, _ := markParts(n.name + " " + mark.Str())
			b.last[nodeItem] = seq
		}
	}
}

// values checks that somebody wrote every value in the cloud.
func (b *book) values(e *simcloud.Effect) {
	for name, v := range e.New {
		if name == "m" {
			v = v.Map()["x"]
		}
		id := v.Str()
		if v.Kind() != attr.KindS || name == "pk" || name == "sk" || name[0] == '_' {
			continue
		}
		if !b.issued[id] {
			b.s.violate("%s %s has %s = %q, which nobody wrote", e.Table, keyText(e.Key), name, id)
		}
		if b.first[id] == 0 {
			b.first[id] = e.N
		}
		if e.By != "restore" {
			if len(b.shown[id]) == 0 {
				b.follows(id)
			}
			b.shown[id] = append(b.shown[id], e.At)
		}
	}
}

func imageText(it attr.Item) string {
	if it == nil {
		return ""
	}
	return string(attr.Encode(nil, it))
}
