package simulation_test

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Checks of locks and of what is written under them.

// lockBook is what is known about locks.
type lockBook struct {
	fences  map[string]int64     // lock: the highest
	renewed map[string]time.Time // lock: the last write of a holder
	taken   map[string]time.Time // lock and fence: when the cloud granted it
	deleted map[string]time.Time // lock: when its record was last deleted by hand, or went back with a restored table
	sent    map[string]time.Time // rvn of a change: when it left its node
}

// owing is an effect that waits for another, and its node.
type owing struct {
	n  uint64
	by string
}

func newLockBook() lockBook {
	return lockBook{
		fences: map[string]int64{}, renewed: map[string]time.Time{}, taken: map[string]time.Time{}, deleted: map[string]time.Time{}, sent: map[string]time.Time{},
	}
}

// lock judges a change of a lock's record.
func (b *book) lock(e *simcloud.Effect) {
	l, key := &b.locks, keyText(e.Key)
	if e.New == nil || e.By == "restore" { // the next fence begins at the second, the resolution of a server's Date
		l.fences[key] -= l.fences[key] % 1e6
		l.deleted[key] = e.At
	}
	fence, ok := e.New["fence"].Int()
	if !ok || e.By == "foreign" || e.By == "restore" {
		return
	}
	// What was requested before the record was deleted by hand or went back, and applied late, begins where it began then: no condition can
	// detect that (sync/lease/DESIGN.md). Nobody works under it.
	late := l.sent[e.New["rvn"].Str()].Before(l.deleted[key])
	if fence < l.fences[key] && !late {
		b.s.violate("the fence of %s fell from %d to %d", key, l.fences[key], fence)
	}
	l.fences[key] = max(l.fences[key], fence)
	l.renewed[key] = e.At
	if given := fmt.Sprint(key, " ", fence); l.taken[given].IsZero() {
		l.taken[given] = e.At
	}
	for _, n := range b.s.nodes {
		if n.name == e.By && n.pausesRenewed.CompareAndSwap(true, false) {
			n.pause(b.s.luck.span(1500*time.Millisecond, 3600*time.Millisecond), false)
		}
	}
}

// untaken is how long a lock cannot be taken over, however fast the clocks of the others run: the record lasts 10 s by their clocks.
const untaken = 9 * time.Second

// terms checks that no process considers a lock its own when others may have taken it.
func (b *book) terms(l *simLife) {
	match, held := l.holding()
	if held == nil || l.n.stands() || held.Check() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	lock := "match:" + match
	if stood := time.Since(b.locks.renewed[lock]); b.locks.fences[lock] == held.Fence() && stood > untaken && !l.dead.Load() {
		b.s.violate("%s relies on %s, whose record has not been renewed for %v", l.n.name, lock, stood)
	}
}

// refusedLock checks that no holder is refused a renewal of a lock with its name and fence. It need not know more, because the answer to
// the last renewal may be lost. The name is that of a run: a clone may hold what its original is refused.
func (b *book) refusedLock(c *intent.Call, there attr.Item) {
	renewal := c.Table == simLocks && !c.Values[":ttl"].IsZero() && c.Values[":fence"].IsZero()
	if renewal && there["holder"].Equal(c.Values[":me"]) && there["fence"].Equal(c.Values[":f"]) {
		b.s.violate("%s was refused its own lock %s, fence %s", there["holder"].Str(), keyText(c.Key), there["fence"].Str())
	}
}

// state judges a new state of a match: only its writer uses its fence, and its events are there.
func (b *book) state(e *simcloud.Effect) {
	match := e.Key["pk"].Str()
	if e.New == nil {
		return
	}
	fence, was := e.New["_f"].Str(), e.Old["_f"]
	if is, _ := e.New["_f"].Int(); !was.IsZero() {
		if before, _ := was.Int(); before > is {
			b.s.violate("the state of %s went from fence %d to %d", match, before, is)
		}
	}
	b.writesUnder(match, fence, e.By)
	upto, _ := e.New["upto"].Int()
	for ball := int64(1); ball <= upto; ball++ {
		key := fmt.Sprintf("%s ball%06d", match, ball)
		if images := b.images["events "+match+"/ball"+fmt.Sprintf("%06d", ball)]; len(images) == 0 && b.owed[key].n == 0 {
			b.owed[key] = owing{e.N, e.By}
		}
	}
}

// writesUnder checks that everything written under a fence of a match, state and events, is one node's.
func (b *book) writesUnder(match, fence, who string) {
	key := match + " " + fence
	if other := b.writers[key]; other != "" && other != who {
		b.s.violate("%s and %s both wrote to %s under fence %s", other, who, match, fence)
	}
	b.writers[key] = who
}
