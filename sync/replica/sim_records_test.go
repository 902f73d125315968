package replica_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What is recorded of a write is neither too little, which the account sees, nor too much: a write that is said to have failed
// has no effect, nothing is said twice, and what counts as done is so.

// stateAt is what an item was behind an effect.
type stateAt struct {
	n     uint64
	there bool
	life  string
}

// notDone are the codes of records that leave no doubt: the write has had no effect, and never will.
func notDone(code string) bool {
	switch intent.Code(code) {
	case intent.CodeCondition, intent.CodeDeleted, intent.CodeOlder, intent.CodeUnfit, intent.CodeInvalid, intent.CodeTooLarge:
		return true
	}
	return false
}

// records holds the conflict logs against the effects. A machine that was put back, or has run twice, is left out: its numbers
// are of several writes.
func (b *book) records() {
	if b.epoch > 0 {
		return
	}
	for _, n := range b.s.nodes {
		l := n.up()
		if l == nil || n.restored || b.cloned[n.name] {
			continue
		}
		told := map[uint64]*replica.Conflict{}
		for _, c := range l.conflicts() {
			for _, e := range c.Entries() {
				if other := told[e.Seq]; other != nil {
					b.s.violate("%s has recorded %d twice: %s and %s", n.name, e.Seq, other, c)
				}
				told[e.Seq] = c
			}
			if notDone(c.Code) {
				b.undone(n.name, c)
			}
		}
	}
}

// undone sees that nothing of a record has an effect.
func (b *book) undone(node string, c *replica.Conflict) {
	for _, e := range c.Entries() {
		item := e.Table + " " + keyText(e.Key)
		for _, at := range b.effects[fmt.Sprintf("%s %d", node, e.Seq)] {
			if at.item == item {
				b.s.violate("recorded falsely: %s %d has had the effect #%d on %s and is in the conflict log (%s)", node, e.Seq, at.n, item, c)
			}
		}
	}
}

// passesPoison sees that nothing is sent that stood behind what an operator is to decide.
func (b *book) passesPoison(l *simLife, c *replica.Conflict) {
	const unsure = 1500 * time.Millisecond // of the instant of a record
	if b.epoch > 0 || l.n.restored || b.cloned[l.n.name] {
		return
	}
	for _, d := range c.Decided {
		item := d.Entry.Table + " " + keyText(d.Entry.Key)
		for _, a := range b.ofItem[l.n.name+" "+item] {
			if a.seq <= d.Entry.Seq || a.gone || !a.at.Before(c.At.Add(-unsure)) {
				continue
			}
			for _, e := range b.effects[fmt.Sprintf("%s %d", a.node, a.seq)] {
				if e.item == item && e.n > a.after && e.at.After(c.At.Add(unsure)) {
					b.s.violate("%s %d had the effect #%d on %s, and stood behind %s", a.node, a.seq, e.n, item, c)
				}
			}
		}
	}
}

// becomes notes what an item is behind an effect.
func (b *book) becomes(e *simcloud.Effect, item string) {
	b.states[item] = append(b.states[item], stateAt{n: e.N, there: e.New != nil, life: e.New[intent.AttrLife].Str()})
}

// guarded notes the life that a delete is sent for.
func (b *book) guarded(as sending, c *intent.Call) {
	if life := c.Values[":c"].Str(); c.Op == store.OpDelete && life != "" {
		b.meant[as.entry+" "+as.item] = append(b.meant[as.entry+" "+as.item], life)
	}
}

// wasGone reports whether a delete that has had no effect may count as done: what it was to delete was gone, by whomever, after it
// was written. What a foreign writer has put in its place is there, and is not what the writer of the delete had seen.
func (b *book) wasGone(a *act) bool {
	item := a.table + " " + keyText(a.key)
	meant := b.meant[fmt.Sprintf("%s %d %s", a.node, a.seq, item)]
	if len(meant) == 0 {
		return true
	}
	states := b.states[item]
	from := 0
	for i := range states {
		if states[i].n <= a.after {
			from = i
		}
	}
	return slices.ContainsFunc(states[from:], func(s stateAt) bool {
		ours := s.life != "" && !strings.HasPrefix(s.life, "~")
		return !s.there || ours && !slices.Contains(meant, s.life)
	})
}

// deletes sees that what counts as deleted was.
func (b *book) deletes(recorded map[string]*replica.Conflict) {
	if b.epoch > 0 {
		return
	}
	for _, a := range b.acts {
		if a.op == store.OpDelete && !a.gone && !a.maybe && !b.cloned[a.node] && recorded[fmt.Sprintf("%s %d", a.node, a.seq)] == nil &&
			!b.had(a) && b.proved(a) && !b.wasGone(a) {
			b.s.violate("not deleted: %s %s %s %s seq %d is done, and what it was to delete was there", a.node, a.what, a.table, keyText(a.key), a.seq)
		}
	}
}

// putWhole sees that a Put leaves nothing of what others have written, but for what it brings itself.
func (b *book) putWhole(e *simcloud.Effect, a *act) {
	if a == nil || a.gone || a.op != store.OpPut || a.whole == nil || a.table != e.Table || e.New == nil {
		return
	}
	for name, v := range e.New {
		if name == "m" {
			v = v.Map()["x"]
		}
		if _, key := e.Key[name]; key || name[0] == '_' || v.Kind() != attr.KindS || !a.whole[name].IsZero() {
			continue
		}
		if !strings.HasPrefix(v.Str(), a.node+".") {
			b.s.violate("mixed: %s %d put %s, and #%d has %s of %s beside it", a.node, a.seq, tell(a.whole), e.N, name, v.Str())
		}
	}
}

// worksUnder sees that who works under a lock is the last to have taken it.
func (b *book) worksUnder(l *simLife, lock string, fence int64, took time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.locks.fences[lock]; now > fence && b.locks.deleted[lock].Before(took) {
		b.s.violate("%s works under fence %d of %s, which was taken with %d since", l.n.name, fence, lock, now)
	}
}
