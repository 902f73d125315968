package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// The records of a write must say neither too little, which the account detects, nor too much: a write recorded as failed has no effect,
// nothing is recorded twice, and what counts as done is done.

// stateAt is the state of an item after an effect.
type stateAt struct {
	n     uint64
	at    time.Time
	there bool
	life  string
}

// notDone are the codes of records that leave no doubt: the write has had no effect, and never will.
func notDone(code string) bool {
	switch intent.Code(code) {
	case intent.CodeCondition, intent.CodeFencedOff, intent.CodeLate, intent.CodeDeleted, intent.CodeOlder, intent.CodeUnfit, intent.CodeInvalid, intent.CodeTooLarge:
		return true
	}
	return false
}

// records compares the conflict logs with the effects. A machine that was restored, or has run twice, is left out: its numbers belong to
// several writes.
func (b *book) records() {
	if b.epoch > 0 {
		return
	}
	for _, n := range b.s.nodes {
		l := n.up()
		if l == nil || n.restored || b.cloned[n.name] {
			continue
		}
		known := map[uint64]*conflict.Record{}
		for _, c := range l.conflicts() {
			for _, e := range c.Entries() {
				if other := known[e.Seq]; other != nil {
					b.s.violate("%s has recorded %d twice: %s and %s", n.name, e.Seq, other, c)
				}
				known[e.Seq] = c
			}
			if notDone(c.Code) {
				b.undone(n.name, c)
			}
			b.ended(n.name, c)
		}
	}
}

// undone checks that no recorded write has an effect. Accepted: on a foreign life without a name, begun after one on which the mark was
// closed had ended.
func (b *book) undone(node string, c *conflict.Record) {
	for _, e := range c.Entries() {
		item := e.Table + " " + keyText(e.Key)
		if a := b.bySeq[fmt.Sprintf("%s %d", node, e.Seq)]; a != nil && a.id != "" && !a.gone && !b.had(a) && len(b.shown[a.id]) > 0 {
			b.s.violate("recorded falsely: %s of %s %d was in the cloud with #%d, and is in the conflict log (%s)", a.id, node, e.Seq, b.first[a.id], c)
		}
		for _, at := range b.effects[fmt.Sprintf("%s %d", node, e.Seq)] {
			if at.item == item && !(at.plain && at.anew) {
				b.s.violate("recorded falsely: %s %d has had the effect #%d on %s and is in the conflict log (%s)", node, e.Seq, at.n, item, c)
			}
		}
	}
}

// passesPoison checks that nothing is sent that waited behind a batch held for an operator: what was written before that batch was last
// sent. Later writes do not wait for it.
func (b *book) passesPoison(l *simLife, c *conflict.Record) {
	if b.epoch > 0 || l.n.restored || b.cloned[l.n.name] {
		return
	}
	for _, d := range c.Decided {
		item := d.Entry.Table + " " + keyText(d.Entry.Key)
		left := b.leftAt[fmt.Sprintf("%s %d", l.n.name, d.Entry.Seq)]
		for _, a := range b.ofItem[l.n.name+" "+item] {
			if a.seq <= d.Entry.Seq || a.gone || !a.at.Before(left) {
				continue
			}
			for _, e := range b.effects[fmt.Sprintf("%s %d", a.node, a.seq)] {
				if e.item == item && e.n > a.after && e.at.After(left) {
					b.s.violate("%s %d had the effect #%d on %s, although it waited behind %s", a.node, a.seq, e.n, item, c)
				}
			}
		}
	}
}

// ended checks that a record's statement about the end of an item is true: a tombstone that it names is there, and no node has deleted a
// row that reached the end of its TTL.
func (b *book) ended(node string, c *conflict.Record) {
	for _, d := range c.Decided {
		first := d.Entry.Seq
		if d.Entry.Begun != 0 {
			first = d.Entry.Begun
		}
		switch intent.Code(c.Code) {
		case intent.CodeTombstone:
			if life := intent.WriteID(node, first); !b.dead[life] {
				b.s.violate("recorded falsely: %s %d has no tombstone %s (%s)", node, d.Entry.Seq, life, c)
			}
		case intent.CodeDeleted:
			b.onlyExpired(node, d, c)
		}
	}
}

// onlyExpired checks that an update of a row is not recorded as having met a deletion if the row has only expired since: then the update
// creates it again. That does not hold for a create that moved to an item which another node had created (DESIGN.md).
func (b *book) onlyExpired(node string, d conflict.Decided, c *conflict.Record) {
	a := b.bySeq[fmt.Sprintf("%s %d", node, d.Entry.Seq)]
	if a == nil || a.gone || a.maybe || a.upsert || a.op != store.OpUpdate || a.table != "rows" || len(d.Entry.Folds) > 0 || d.Entry.Moved {
		return
	}
	ends, ok := d.Base["ttl"].Int()
	if was := b.stateAt(a.table+" "+keyText(a.key), a.after); !was.there || was.life != d.Entry.Life.ID {
		return // its life had ended before
	}
	var since []simcloud.Effect
	for _, e := range b.s.cloud.Log(a.after) {
		if e.Table == a.table && attr.EqualItems(e.Key, a.key) {
			since = append(since, e)
		}
	}
	late := len(since) == 1 && since[0].By == "ttl" && since[0].At.Unix()-ends > 2
	if ok && late && since[0].At.Unix()-ends < 86400 { // a TTL of years ago, as from a clock in 1970, does not count
		b.s.violate("recorded falsely: %s %d has met only the end of a TTL (%s)", node, d.Entry.Seq, c)
	}
}

// stateAt returns the state of an item after an effect on any item.
func (b *book) stateAt(item string, n uint64) (was stateAt) {
	for _, s := range b.states[item] {
		if s.n <= n {
			was = s
		}
	}
	return was
}

// onItsLife checks that an update has no effect on an item that another node created after it was written.
func (b *book) onItsLife(e *simcloud.Effect, a *act, item string) {
	life := e.Old[intent.AttrLife].Str()
	if a == nil || a.gone || a.maybe || a.op != store.OpUpdate || a.upsert || a.table != e.Table || a.table == "rows" || e.Old == nil || life == "" ||
		strings.HasPrefix(life, "~") || strings.HasPrefix(life, a.node+".") {
		return
	}
	if began := b.lives[item+" "+life].began; began > a.after && !b.behindOwn(a) {
		b.s.violate("on another life: %s %d had the effect #%d on %s, whose life %s began with #%d, after it was written", a.node, a.seq, e.N,
			item, life, began)
	}
}

// behindOwn reports whether a write may follow a create of its node to the life to which that moves: a create that had no effect when the
// write was made, or one without a proof whose answer was lost, and which has had another effect since.
func (b *book) behindOwn(a *act) bool {
	return slices.ContainsFunc(b.ofItem[a.node+" "+a.table+" "+keyText(a.key)], func(other *act) bool {
		if other.seq >= a.seq || !other.upsert {
			return false
		}
		at := b.effects[fmt.Sprintf("%s %d", other.node, other.seq)]
		before := slices.ContainsFunc(at, func(e effectAt) bool { return e.n > other.after && e.n <= a.after })
		return !before || slices.ContainsFunc(at, func(e effectAt) bool { return e.n > a.after })
	})
}

// broughtOnce checks that an update does not add its value twice, under any number.
func (b *book) broughtOnce(e *simcloud.Effect, item string) {
	if e.Op != store.OpUpdate || e.Old == nil {
		return
	}
	for _, a := range b.ofItem[e.By+" "+item] {
		if a.id == "" || a.op != store.OpUpdate || !brings(e, a.id) {
			continue
		}
		at := item + " " + a.id
		if n := b.brought[at]; n > 0 && b.cut[item] < n {
			b.s.violate("twice: %s was added to %s with #%d and #%d", a.id, item, n, e.N)
		}
		b.brought[at] = e.N
	}
}

// becomes records what an item is after an effect.
func (b *book) becomes(e *simcloud.Effect, item string) {
	b.states[item] = append(b.states[item], stateAt{n: e.N, at: e.At, there: e.New != nil, life: e.New[intent.AttrLife].Str()})
}

// guarded records the life that a delete is meant for.
func (b *book) guarded(as sending, c *intent.Call) {
	if life := c.Values[":c"].Str(); c.Op == store.OpDelete && life != "" {
		b.meant[as.entry+" "+as.item] = append(b.meant[as.entry+" "+as.item], life)
	}
}

// wasGone reports whether a delete that has had no effect may count as done: what it was to delete was gone, whoever removed it, after it
// was written. A foreign writer's replacement exists, and is not what the writer of the delete had seen.
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

// deletes checks that every delete that counts as done has deleted its item.
func (b *book) deletes(recorded map[string]*conflict.Record) {
	if b.epoch > 0 {
		return
	}
	for _, a := range b.acts {
		if a.op == store.OpDelete && !a.gone && !a.maybe && !b.cloned[a.node] && recorded[fmt.Sprintf("%s %d", a.node, a.seq)] == nil &&
			!b.had(a) && b.proved(a) && !b.wasGone(a) {
			b.s.violate("not deleted: %s %s %s %s seq %d counts as done, but its item was there", a.node, a.what, a.table, keyText(a.key), a.seq)
		}
	}
}

// putWhole checks that a Put leaves nothing that others have written, except what it brings itself.
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
			b.s.violate("mixed: %s %d put %s, but #%d also has %s of %s", a.node, a.seq, tell(a.whole), e.N, name, v.Str())
		}
	}
}

// hasRead checks that a new holder of a lock knows the state that the lock guards, as of that time.
func (b *book) hasRead(l *simLife, match string, there attr.Item) {
	if b.epoch > 0 || b.cloned[l.n.name] || l.dead.Load() {
		return
	}
	was, _ := there["upto"].Int()
	if is, _ := l.view("matches", pk(match))["upto"].Int(); is < was {
		b.s.violate("%s has taken match:%s, whose state is at %d, but knows it at %d", l.n.name, match, was, is)
	}
}

// worksUnder checks that a process works under a lock only if it was the last to take it, unless the record was deleted by hand since.
func (b *book) worksUnder(l *simLife, lock string, fence int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.locks.fences[lock]; now > fence && b.locks.deleted[lock].Before(b.locks.taken[fmt.Sprint(lock, " ", fence)]) {
		b.s.violate("%s works under fence %d of %s, which was taken with fence %d since", l.n.name, fence, lock, now)
	}
}
