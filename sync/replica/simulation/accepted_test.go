package simulation_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Outcomes that the protocol accepts, so the book must not complain about them.

// seen is the state of the checks made during the faults.
type seen struct {
	anew      *anew                          // the recreated table; nil: none
	ofItem    map[string][]*act              // "node table key"
	changed   map[string]map[string]changeAt // table, item: the last effect
	written   map[string]writtenAt           // "node table key"
	lives     map[string]livedAt             // "item life"
	named     map[string]string              // "node seq item": the life that a create asked to begin
	moved     map[string]uint64              // life: the first effect that showed its create moving to another life
	behind    map[string][]link              // id: what it stands behind
	early     map[link]string                // links whose later write was in the cloud first
	states    map[string][]stateAt           // item
	meant     map[string][]string            // "node seq item": the lives a delete was sent for
	carried   map[string]uint64              // "node table key": highest mark that another's Put brought into a restored cloud
	noticed   map[string]bool                // nodes that know of the cloud's last restore
	pruned    map[string]uint64              // "node table key": the highest mark removed by a node that had not noticed the restore
	dead      map[string]bool                // lives with a tombstone
	lastWord  map[string]string              // by setting: its last value; nil: not written yet
	brought   map[string]uint64              // "item id": the effect of an update that added it
	settledBy map[string][]reportedAt        // node: how far it reported settled
	closed    map[string]closedAt            // "node table key": the last mark closed
	goesOn    map[string]uint64              // "node seq item": the next effect when it was last sent for more than closing its mark
}

func newSeen() seen {
	return seen{
		ofItem: map[string][]*act{}, changed: map[string]map[string]changeAt{}, written: map[string]writtenAt{},
		lives: map[string]livedAt{}, named: map[string]string{}, moved: map[string]uint64{}, carried: map[string]uint64{},
		noticed: map[string]bool{}, pruned: map[string]uint64{},
		states: map[string][]stateAt{}, meant: map[string][]string{}, behind: map[string][]link{}, early: map[link]string{},
		dead: map[string]bool{}, settledBy: map[string][]reportedAt{}, brought: map[string]uint64{},
		closed: map[string]closedAt{}, goesOn: map[string]uint64{},
	}
}

// unnamed reports whether a foreign writer created the item and no node has named its life.
func unnamed(it attr.Item) bool { return it != nil && it[intent.AttrLife].IsZero() }

// unsentThere reports whether an entry waited in a snapshot that its node was restored to, and the lost timeline had not brought it into
// the cloud. Accepted: it is sent now, after everything that was sent there.
func (b *book) unsentThere(e *simcloud.Effect, entry, nodeItem string) bool {
	a := b.bySeq[entry]
	return a != nil && !a.gone && a.id != "" && b.lastN[nodeItem] <= b.back[e.By] && len(b.effects[entry]) == 0 && b.first[a.id] == e.N
}

// ofLostTime reports whether an entry's node was restored to before the entry was written, while a copy of it was on its way. Accepted: the
// node has no trace of it, so nothing closes it, and it may come after later writes. A mark that the node has left since must refuse it if
// that is still there, and so must the rows if it was answered: then it is no first effect.
func (b *book) ofLostTime(e *simcloud.Effect, entry, item string) bool {
	a, left := b.bySeq[entry], b.goesOn[entry+" "+item]
	return a != nil && a.gone && left > 0 && left <= b.back[e.By]+1 && len(b.effects[entry]) == 0 && e.Old[intent.AttrMark+e.By].IsZero()
}

// writtenAt is how far a node has come with its writes on an item, in the order written. Entries that waited when a timeline was lost, and
// were not sent there, take effect under numbers above those of later writes.
type writtenAt struct {
	upTo uint64 // the last that had an effect or was closed, by its original number
	life string // life of the last effect
}

// wrote records an effect under an entry's mark. Renumbered deletes are left out: nothing shows their original number.
func (b *book) wrote(e *simcloud.Effect, nodeItem string, seq uint64, closes bool) {
	w := b.written[nodeItem]
	switch {
	case closes:
		w.upTo = max(w.upTo, seq+1)
	case e.Op == store.OpDelete && renumbered(seq):
	default:
		w.upTo, w.life = max(w.upTo, b.writtenAs(e, nodeItem, seq)), e.New[intent.AttrLife].Str()
	}
	b.written[nodeItem] = w
}

// writtenAs returns an entry's original number, by the id that it brings; its own if nothing shows it.
func (b *book) writtenAs(e *simcloud.Effect, nodeItem string, seq uint64) (was uint64) {
	if !renumbered(seq) {
		return seq
	}
	for _, a := range b.ofItem[nodeItem] {
		if a.id != "" && a.seq < seq && brings(e, a.id) {
			was = max(was, a.seq)
		}
	}
	return cmp.Or(was, seq)
}

// brings reports whether an effect shows an id that was not there before.
func brings(e *simcloud.Effect, id string) bool {
	for name, v := range e.New {
		was := e.Old[name]
		if name == "m" {
			v, was = v.Map()["x"], was.Map()["x"]
		}
		if v.Kind() == attr.KindS && v.Str() == id && !v.Equal(was) {
			return true
		}
	}
	return false
}

// behindRenumbered reports whether an entry follows a renumbered one, was written after it, and is on another life. Accepted: the lost
// timeline may have created what this one found absent, and the tombstone of that is named by its number. So a create up to the fork
// keeps its number, and so does what moves from there to a life that another node has begun. On one life the greater mark would
// refuse it.
func (b *book) behindRenumbered(e *simcloud.Effect, nodeItem string, seq uint64) bool {
	w := b.written[nodeItem]
	return !renumbered(seq) && renumbered(b.last[nodeItem]) && w.upTo < seq && e.New != nil && e.New[intent.AttrLife].Str() != w.life
}

// closedAt is the closing of a mark.
type closedAt struct {
	n, seq uint64
	life   string // life that the mark is on
}

// forgotten reports whether a node does not know that an entry's mark was closed, because it has sent the entry again: the answer was
// lost, or the process died before the record. Accepted: the life with the mark has ended, and nothing else shows the closing.
func (b *book) forgotten(e *simcloud.Effect, entry, item, nodeItem string, seq uint64) bool {
	c := b.closed[nodeItem]
	return c.seq == seq && c.n == b.lastN[nodeItem] && b.last[nodeItem] == seq+1 && e.Old[intent.AttrLife].Str() != c.life && b.goesOn[entry+" "+item] > c.n
}

// livedAt is what became of a life.
type livedAt struct {
	began uint64 // the first effect of the life
	cut   bool   // a foreign writer or the TTL has ended it, not a node
}

// proofs reports whether the cloud has transactions and was never restored. Then every create has left its proof, creates nothing again, and
// has no effect on another life.
func (b *book) proofs() bool { return !b.s.plain && b.epoch == 0 }

// refusals checks that no write is recorded as refused that has created its item. Accepted: it was sent again in a lost timeline, and
// the machine was put back to a state in which it had been refused.
func (b *book) refusals(recorded map[string]*conflict.Record) {
	if b.epoch > 0 {
		return
	}
	for _, a := range b.acts {
		entry := fmt.Sprintf("%s %d", a.node, a.seq)
		c := recorded[entry]
		if c == nil || c.Code != string(intent.CodeCondition) || a.gone || b.cloned[a.node] || !about(c, a) {
			continue
		}
		item := a.table + " " + keyText(a.key)
		tail := slices.ContainsFunc(c.Tail, func(e *intent.Entry) bool { return isEntry(e, a.seq) })
		if !tail && slices.ContainsFunc(b.effects[entry], func(e effectAt) bool { return e.made && e.item == item && e.n > a.after && !b.sentWhenLost(a, e.n) }) {
			b.s.violate("refused falsely: %s has made %s and is in the conflict log (%s)", entry, item, c)
		}
	}
}

// lived records which life an effect begins and which it ends.
func (b *book) lived(e *simcloud.Effect, item string, cuts bool) {
	was, is := e.Old[intent.AttrLife].Str(), e.New[intent.AttrLife].Str()
	if was == is {
		return
	}
	switch l := b.lives[item+" "+is]; {
	case is == "":
	case l.began == 0:
		l.began = e.N
		b.lives[item+" "+is] = l
	case b.proofs() && strings.HasPrefix(is, e.By+".") && e.Old == nil:
		b.s.violate("came back: #%d makes %s again, whose life %s began with #%d", e.N, item, is, l.began)
	}
	if was != "" {
		l := b.lives[item+" "+was]
		l.cut = cuts
		b.lives[item+" "+was] = l
	}
}

// carries records the marks of other nodes that a Put brings to an item of a restored cloud that no longer has them. Accepted: its node
// had not noticed the restore, and its base has the item's life and, by chance, its count (DESIGN, Limits). Those nodes then find
// their marks there, and do not send again what the cloud has lost.
func (b *book) carries(e *simcloud.Effect, item string) {
	if b.epoch == 0 || e.Op != store.OpPut {
		return
	}
	for name, mark := range e.New {
		node, ok := strings.CutPrefix(name, intent.AttrMark)
		if !ok || node == e.By || mark.Equal(e.Old[name]) {
			continue
		}
		_, _, seq, _ := markParts(node + " " + mark.Str())
		nodeItem := node + " " + item
		b.carried[nodeItem] = max(b.carried[nodeItem], seq)
	}
}

// takes records the marks of other nodes that a node removes from an item of a restored cloud. Accepted if it has not noticed the
// restore: what the others put back was there, and nothing shows it any more (DESIGN, Limits).
func (b *book) takes(e *simcloud.Effect, item string) {
	if b.epoch == 0 || b.noticed[e.By] || e.New == nil || !e.New[intent.AttrLife].Equal(e.Old[intent.AttrLife]) {
		return
	}
	for name, mark := range e.Old {
		if node, ok := strings.CutPrefix(name, intent.AttrMark); ok && node != e.By && e.New[name].IsZero() {
			_, _, seq, _ := markParts(node + " " + mark.Str())
			nodeItem := node + " " + item
			b.pruned[nodeItem] = max(b.pruned[nodeItem], seq)
		}
	}
}

// notices records that a node knows of a restore of the cloud.
func (b *book) notices(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noticed[node] = true
}

// row records what a row in the nodes' own table says.
func (b *book) row(e *simcloud.Effect) {
	key := keyText(e.Key)
	if node, ok := strings.CutPrefix(key, intent.NodeID("")); ok {
		b.rows[node]++
		if settled, ok := e.New["settled"].Int(); ok {
			b.settledBy[node] = append(b.settledBy[node], reportedAt{uint64(settled), e.At})
		}
	}
	if life, ok := strings.CutPrefix(key, intent.DeadID("")); ok {
		b.dead[life] = true
	}
	if life, ok := strings.CutPrefix(key, intent.MovedID("")); ok && b.moved[life] == 0 {
		b.moved[life] = e.N
	}
}

// begun returns the life that a call asks to begin; "": it concerns an existing item.
func begun(c *intent.Call) string {
	if c.Names["#p"] == "" || !strings.Contains(c.Condition, "attribute_not_exists(#p)") {
		return ""
	}
	return cmp.Or(c.Item[intent.AttrLife].Str(), c.Values[":d"].Str())
}

// copied reports whether an effect is a second copy of a create whose node was restored to a snapshot with it in its queue, after the
// lost timeline had brought it into the cloud, perhaps folded into a later write: both copies name the same life. Accepted: a foreign
// writer or the TTL has ended that life, so there is no tombstone, and nothing else identifies the create. If another life has begun
// since, the copy moves to it and records that first; a move recorded by the lost timeline would identify it.
func (b *book) copied(e *simcloud.Effect, entry, item string) bool {
	if e.New == nil || b.proofs() {
		return false
	}
	on := e.New[intent.AttrLife].Str()
	life := on
	if e.Old != nil {
		life = b.named[entry+" "+item]
		if life == on || b.moved[life] <= b.back[e.By] {
			return false
		}
	}
	l := b.lives[item+" "+life]
	return l.cut && l.began <= b.back[e.By]
}

// overtaken reports whether a node does not read its own write because it adopted a cloud image after it, perhaps in the same commit, on
// which the write does not hold. Accepted: the write waits as doubtful, or the cloud has decided on it by now.
func (b *book) overtaken(l *simLife, a *act) bool {
	records, err := l.store.Journal(context.Background(), a.seq, 1000)
	if err != nil || !slices.ContainsFunc(records, func(r store.Record) bool {
		return r.Origin == store.OriginCloud && r.Table == a.table && attr.EqualItems(r.Key, a.key)
	}) {
		return false
	}
	b.s.net.Count("a write was overtaken before its writer looked")
	if p, err := l.rep.ProofOf(context.Background(), a.seq); err != nil || p != replica.ProofPending {
		return err == nil
	}
	doubtful, err := l.doubtful(a.table, a.key)
	return err == nil && slices.Contains(doubtful, a.seq)
}

// lostBelow reports whether a node does not show half of a transaction because a restored cloud has lost the item below it. Accepted:
// that half waits as doubtful for the node that may send the item again, the other half on what is there (DESIGN, Limits).
func (b *book) lostBelow(l *simLife, key attr.Item, id string) bool {
	doubtful, err := l.doubtful("pairs", key)
	b.mu.Lock()
	defer b.mu.Unlock()
	item := "pairs " + keyText(key)
	if err != nil || len(b.backs) == 0 || !slices.ContainsFunc(b.ofItem[l.n.name+" "+item], func(a *act) bool {
		return a.id == id && slices.Contains(doubtful, a.seq)
	}) {
		return false
	}
	restored := b.backs[len(b.backs)-1].when
	return slices.ContainsFunc(b.states[item], func(s stateAt) bool { return !s.there && !s.at.Before(restored) })
}

// readThenLost reports whether an item of a transaction had another node's later transaction on it when the cloud was restored. Accepted:
// a node that had read that one's half shows it until its writer has sent it again, and shows its own transaction, which is put back,
// only on the item that it had not read again (DESIGN, Limits).
func (b *book) readThenLost(key attr.Item, id string, shown attr.Item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.backs) == 0 {
		return false
	}
	restored, item := b.backs[len(b.backs)-1].when, "pairs "+keyText(key)
	ours, over := false, false
	for _, im := range b.images[item] {
		if !im.at.Before(restored) {
			break
		}
		switch im.text {
		case imageText(attr.Item{"pk": key["pk"], "v": attr.S(id)}):
			ours, over = true, false
		default:
			over = over || ours && im.text == imageText(shown)
		}
	}
	return over
}
