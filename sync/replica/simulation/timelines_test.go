package simulation_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/sync/replica/intent"
)

// A machine restored to a snapshot begins another timeline. The book records which timelines its disk has come through: a snapshot may be
// from a timeline that was lost before, so that what happened in it stands again, and what came after does not.

// sending is an entry sent by its node in one of its timelines.
type sending struct {
	entry, item string
	timeline    int
}

// sendingOf identifies a write with a mark, as its node sends it now.
func (b *book) sendingOf(mark string, c *intent.Call) (as sending, node string) {
	entry, _, _, _ := markParts(mark)
	node, _, _ = strings.Cut(entry, " ")
	key := c.Key
	if key == nil {
		key = keyIn(c.Item)
	}
	return sending{entry: entry, item: c.Table + " " + keyText(key), timeline: b.timeline(node)}, node
}

// comesBack records that a write has not reached the cloud, and that its node knows: if it was not sent otherwise, the next write may be
// folded with it.
func (b *book) comesBack(mark string, c *intent.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if mark == "" {
		return
	}
	as, _ := b.sendingOf(mark, c)
	if b.tries[as]--; b.tries[as] == 0 {
		delete(b.sent, as)
	}
}

// timeline is the present timeline of a node.
func (b *book) timeline(node string) int {
	if timelines := b.timelines[node]; len(timelines) > 0 {
		return timelines[len(timelines)-1]
	}
	return 0
}

// disk is what a machine's disk promises.
type disk struct {
	acts      map[*act]bool // acknowledged writes that it contains
	timelines []int
}

// disk returns what is on a node's disk now.
func (b *book) disk(node string) disk {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := disk{acts: map[*act]bool{}, timelines: slices.Clone(b.timelines[node])}
	for _, a := range b.acts {
		if a.node == node && !a.gone {
			d.acts[a] = true
		}
	}
	return d
}

// putBack withdraws the promises of all writes of a node except those on the disk that it was restored to. Writes that had reached the
// cloud are still there once. If the disk is from a timeline that was lost before, the promises made in that one hold again.
func (b *book) putBack(node string, d disk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.back[node] = b.latest
	if now := b.timelines[node]; len(d.timelines) > len(now) || !slices.Equal(d.timelines, now[:len(d.timelines)]) {
		b.s.net.Count("put back to a time that was lost")
	}
	b.begun++
	b.timelines[node] = append(slices.Clone(d.timelines), b.begun)
	for _, a := range b.acts {
		if a.node != node {
			continue
		}
		a.gone, a.undone = !d.acts[a], !d.acts[a]
		if d.acts[a] {
			b.bySeq[fmt.Sprintf("%s %d", node, a.seq)] = a
		}
	}
}

// hasSent reports whether a write was sent by itself, and not known to have come back, in a timeline that its node's disk has come
// through: in another one it may have been sent and here have been folded. A number of a lost timeline may have been given to another
// item, or to another write of the same one: what was sent before this one was written belongs to that.
func (b *book) hasSent(a *act) bool {
	as := sending{entry: fmt.Sprintf("%s %d", a.node, a.seq), item: a.table + " " + keyText(a.key)}
	there := func(timeline int) bool {
		as.timeline = timeline
		return b.sent[as] > a.after
	}
	return there(0) || slices.ContainsFunc(b.timelines[a.node], there)
}

// sentWhenLost reports whether a write had been sent, when an effect came, in a timeline that its node's disk has not come through.
func (b *book) sentWhenLost(a *act, effect uint64) bool {
	as := sending{entry: fmt.Sprintf("%s %d", a.node, a.seq), item: a.table + " " + keyText(a.key)}
	for as.timeline = range b.begun + 1 {
		sent := b.sent[as]
		if as.timeline > 0 && sent > 0 && sent <= effect && !slices.Contains(b.timelines[a.node], as.timeline) {
			return true
		}
	}
	return false
}

// firstSent returns the next effect at the time when an entry was first sent, in any timeline; 0: never sent.
func (b *book) firstSent(entry, item string) (first uint64) {
	for timeline := range b.begun + 1 {
		if n := b.sent[sending{entry, item, timeline}]; n > 0 && (first == 0 || n < first) {
			first = n
		}
	}
	return first
}
