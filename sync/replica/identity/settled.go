package identity

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// How often a node reports how far it has settled after a connect, and how long it reads the same of other nodes.
const (
	tellSoon  = 5 * time.Second  // after a connect
	tellWatch = 10 * time.Minute // after a connect that found another copy, during which it looks more often
	askedFor  = time.Hour        // a node not asked about for this long is no longer read
	maxNodes  = 4096             // known at once; beyond that the one least recently asked about is forgotten
)

// settledNodes is how far other nodes have settled, as far as this node needed to know. It is kept in memory only: what is not known
// counts as not settled, which is always safe.
type settledNodes struct {
	nodes map[string]*settledNode
}

type settledNode struct {
	seen  []settledAt // the oldest is the newest one older than Signed, if any
	asked time.Time
	read  time.Time // zero: not yet
}

// settledAt is what a row reported at an instant: everything up to a sequence is settled, except in the gaps.
type settledAt struct {
	seq  uint64
	gaps []span
	at   time.Time
}

// has reports whether a write is settled.
func (s settledAt) has(seq uint64) bool { return seq <= s.seq && !inGap(s.gaps, seq) }

// learn records a read; nil: there is no row. A sequence only grows: a lower one comes from a restored cloud, and what was settled remains
// settled.
func (n *settledNode) learn(row *nodeRow, now time.Time, signed time.Duration) {
	n.read = now
	seen := settledAt{at: now}
	if row != nil {
		seen.seq, seen.gaps = row.settled, row.gaps
	}
	if k := len(n.seen); k > 0 && seen.seq < n.seen[k-1].seq {
		seen.seq = n.seen[k-1].seq
		for _, gap := range n.seen[k-1].gaps {
			seen.gaps = addGap(seen.gaps, gap)
		}
	}
	n.seen = append(n.seen, seen)
	for len(n.seen) > 1 && !n.seen[1].at.After(now.Add(-signed)) {
		n.seen = n.seen[1:]
	}
}

func (n *settledNode) latest() (s settledAt) {
	if len(n.seen) == 0 {
		return s
	}
	return n.seen[len(n.seen)-1]
}

func (n *settledNode) settledInThePast(now time.Time, signed time.Duration) (out settledAt) {
	for _, s := range n.seen {
		if !s.at.After(now.Add(-signed)) {
			out = s
		}
	}
	return out
}

// node returns what is known of a node, and records the request.
func (s *settledNodes) node(name string, now time.Time) (n *settledNode, fresh bool) {
	if n = s.nodes[name]; n == nil {
		if s.nodes == nil {
			s.nodes = map[string]*settledNode{}
		}
		if len(s.nodes) >= maxNodes {
			delete(s.nodes, s.leastAsked())
		}
		n, fresh = &settledNode{}, true
		s.nodes[name] = n
	}
	n.asked = now
	return n, fresh
}

func (s *settledNodes) leastAsked() (name string) {
	for _, k := range slices.Sorted(maps.Keys(s.nodes)) {
		if name == "" || s.nodes[k].asked.Before(s.nodes[name].asked) {
			name = k
		}
	}
	return name
}

// due lists the nodes to read, sorted by name: each is read three times per lifetime of a signed request.
func (s *settledNodes) due(now time.Time, signed time.Duration) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		n := s.nodes[name]
		if n.asked.Before(now.Add(-askedFor)) {
			delete(s.nodes, name)
		} else if n.read.IsZero() || !n.read.After(now.Add(-signed/3)) {
			out = append(out, name)
		}
	}
	return out
}

// settledOf reports whether a write of a node is settled, as far as known. For this node that is what it has reported to the cloud, which a
// restored state of it would read there.
func (id *Identity) settledOf(node string, seq uint64) bool {
	now := id.Clock.Now()
	id.mu.Lock()
	defer id.mu.Unlock()
	if node == id.Store.Node() {
		return settledAt{seq: id.reported, gaps: id.state.Gaps}.has(seq)
	}
	n, _ := id.settled.node(node, now)
	return n.latest().has(seq)
}

// pastOf is settledOf as known one lifetime of a signed request ago: no copy of what was settled then can still arrive.
func (id *Identity) pastOf(node string, seq uint64) bool {
	if node == id.Store.Node() {
		return false
	}
	now := id.Clock.Now()
	id.mu.Lock()
	defer id.mu.Unlock()
	n, _ := id.settled.node(node, now)
	return n.settledInThePast(now, id.Signed).has(seq) && n.latest().has(seq)
}

// Run maintains the node's row in the cloud until ctx ends, then reports a last time how far the node has settled.
func (id *Identity) Run(ctx context.Context) error {
	wake := clock.NewSignal()
	for {
		err := id.Clock.Wait(ctx, id.Clock.Now().Add(id.tellNext()), nil)
		for err == nil && !id.Link.WhenOnline(wake) {
			err = id.Clock.Wait(ctx, time.Time{}, wake)
		}
		if err != nil {
			id.lastWord(ctx)
			return err
		}
		id.keepRow(ctx)
	}
}

// tellNext returns the time until the row is written again. It is short after a connect, and while another copy is suspected: writing
// the row detects another copy, and two copies started together should notice at once. It costs one small write each, and needs
// no jitter.
func (id *Identity) tellNext() time.Duration {
	id.mu.Lock()
	defer id.mu.Unlock()
	since := id.Clock.Now().Sub(id.connectedAt)
	switch {
	case !id.connected || since < tellSoon:
		return tellSoon
	case since < id.Tell || id.replaced > 0 && since < tellWatch:
		return 2 * tellSoon
	}
	return backoff.WithJitter(id.Tell, id.Rand)
}

// keepRow is one round: report, learn, check the tables. Failures are retried in the next round.
func (id *Identity) keepRow(ctx context.Context) {
	id.Jumps.CheckClocks()
	if id.resumed.Load() {
		return // it connects anew
	}
	id.mu.Lock()
	connected := id.connected && id.stopped == ""
	names := id.settled.due(id.Clock.Now(), id.Signed)
	id.mu.Unlock()
	if !connected {
		return
	}
	id.reportAndLearn(ctx, names)
	id.Beside(ctx)
}

// reportAndLearn reports how far this node has settled, and reads how far others have.
func (id *Identity) reportAndLearn(ctx context.Context, names []string) {
	if err := id.tellSettled(ctx); err != nil {
		remote.Complain(id.Log, "telling the cloud what is settled", err)
		return
	}
	for _, name := range names {
		row, err := id.getRow(ctx, name)
		if err != nil {
			remote.Complain(id.Log, "reading how far another node is", err)
			return
		}
		now := id.Clock.Now()
		id.mu.Lock()
		if n := id.settled.nodes[name]; n != nil {
			n.learn(row, now, id.Signed)
		}
		id.mu.Unlock()
	}
}

// tellSettled reports how far this node has settled, under a new nonce if anything was sent since the last one, so that an earlier snapshot
// has an older nonce even if nothing has settled since. The row must show what this run wrote last, or before that if the last write had
// no answer. Otherwise another process uses this identity, and the next connect finds out which.
func (id *Identity) tellSettled(ctx context.Context) error {
	settled, err := outbox.SettledHere(ctx, id.Store)
	if err != nil {
		return err
	}
	id.mu.Lock()
	settled = max(settled, id.reported)
	id.mu.Unlock()
	nonce, shown := id.nonces()
	if nonce == shown && id.sends.Swap(false) {
		switch fresh, err := id.drawNonce(ctx); {
		case err == nil:
			nonce = fresh
		case !fault.Is(err, fault.Full):
			return err
		default: // without room, keep the present one
			id.sends.Store(true)
		}
	}
	err = id.write(ctx, intent.Call{
		Op: store.OpUpdate, Table: id.Table, Key: nodeKey(id.Store.Node()),
		Update: "SET settled = :settled, seen = :now, nonce = :nonce", Condition: ownNonce,
		Params: expr.Params{Values: attr.Item{
			":settled": numberValue(settled), ":now": attr.Int(id.serverNow().UnixMilli()), ":nonce": attr.S(nonce),
			":shown": attr.S(shown),
		}},
	})
	if e, ok := errors.AsType[*intent.Error](err); ok && e.Class == intent.ConditionFailed {
		if now, _ := id.nonces(); now == nonce { // otherwise it is being rewritten right now
			id.Reconnect("the row of this node was written by another copy of it, or is gone")
		}
		return nil
	}
	if err != nil {
		return err
	}
	id.mu.Lock()
	id.reported, id.shown = settled, nonce
	id.mu.Unlock()
	return nil
}

// ownNonce is the condition that this run has written the row.
const ownNonce = "nonce = :nonce OR nonce = :shown"

// nonces returns the nonce drawn last, and the one last confirmed by the cloud; they differ if the last write was not answered. A nonce
// in the store that the file had no room for does not count as drawn: the cloud never sees it.
func (id *Identity) nonces() (drawn, shown string) {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.file.newest(), id.shown
}

// lastWord reports the end of a run, to the cloud if it can be reached at once, and to the file.
func (id *Identity) lastWord(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordTime)
	defer cancel()
	id.mu.Lock()
	connected := id.connected && id.stopped == "" && !id.suspect
	id.mu.Unlock()
	if connected && id.Link.Online() {
		if err := id.tellSettled(ctx); err != nil {
			remote.Complain(id.Log, "telling the cloud what is settled", err)
		}
	}
	defer id.lockFile()()
	file := id.copyFile()
	file.Clean = true
	if err := id.setFile(ctx, file); err != nil {
		remote.Complain(id.Log, "closing the identity file", err)
	}
}

// lastWordTime limits the time that takes.
const lastWordTime = 2 * time.Second

// serverNow returns the cloud's time, as far as it is known.
func (id *Identity) serverNow() time.Time { return id.Clock.Wall().Add(id.Cloud.Skew()) }
