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

// How often a node tells how far it has settled after a connect, and for how long it reads the same of others.
const (
	tellSoon  = 5 * time.Second  // after a connect
	tellWatch = 10 * time.Minute // after a connect that found another copy, in which it looks more often
	askedFor  = time.Hour        // a node nobody has asked about for that long is not read any more
	maxNodes  = 4096             // known at once: beyond that the one asked about least recently is forgotten
)

// settledNodes is how far other nodes have settled, as far as somebody here wanted to know. It is in memory: what is not
// known counts as not settled, which is always safe.
type settledNodes struct {
	nodes map[string]*settledNode
}

type settledNode struct {
	seen  []settledAt // the oldest is the newest that is older than Signed, if there is one
	asked time.Time
	read  time.Time // zero: not yet
}

type settledAt struct {
	seq uint64
	at  time.Time
}

// learn notes a reading. A sequence only grows: a lower one is that of a restored cloud, and what was settled stays so.
func (n *settledNode) learn(seq uint64, now time.Time, signed time.Duration) {
	n.read = now
	if k := len(n.seen); k > 0 {
		seq = max(seq, n.seen[k-1].seq)
	}
	n.seen = append(n.seen, settledAt{seq, now})
	for len(n.seen) > 1 && !n.seen[1].at.After(now.Add(-signed)) {
		n.seen = n.seen[1:]
	}
}

func (n *settledNode) latest() uint64 {
	if len(n.seen) == 0 {
		return 0
	}
	return n.seen[len(n.seen)-1].seq
}

func (n *settledNode) past(now time.Time, signed time.Duration) uint64 {
	out := uint64(0)
	for _, s := range n.seen {
		if !s.at.After(now.Add(-signed)) {
			out = s.seq
		}
	}
	return out
}

// node finds what is known of a node, and notes that somebody has asked.
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

// due lists the nodes to be read, in the order of their names: each thrice in the lifetime of a signed request.
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

// settledOf returns the sequence up to which everything of a node is settled, as far as that is known; 0: it is not. Of
// this node it is what it has told the cloud: what a restored state of it will learn there.
func (id *Identity) settledOf(node string) uint64 {
	now := id.Clock.Now()
	id.mu.Lock()
	defer id.mu.Unlock()
	if node == id.Store.Node() {
		return id.told
	}
	n, _ := id.settled.node(node, now)
	return n.latest()
}

// pastOf is settledOf as it was known a signed request's lifetime ago: no copy of what was settled then is on its way any more.
func (id *Identity) pastOf(node string) uint64 {
	if node == id.Store.Node() {
		return 0
	}
	now := id.Clock.Now()
	id.mu.Lock()
	defer id.mu.Unlock()
	n, _ := id.settled.node(node, now)
	return n.past(now, id.Signed)
}

// Run keeps the node's row in the cloud until ctx ends, and then tells it how far the node has come.
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

// tellNext is how long until the row is written again: soon after a connect, and while another copy is suspected, for
// whoever writes the row notices another copy of this node, and two that were started together are to notice at once. It
// costs one small write each, and has no need of jitter.
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
	return backoff.Jittered(id.Tell, id.Rand)
}

// keepRow is one round: tell, learn, look at the tables. What fails is tried again in the next one.
func (id *Identity) keepRow(ctx context.Context) {
	id.mu.Lock()
	connected := id.connected && id.stopped == ""
	names := id.settled.due(id.Clock.Now(), id.Signed)
	id.mu.Unlock()
	if !connected {
		return
	}
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
		seq := uint64(0)
		if row != nil {
			seq = row.settled
		}
		now := id.Clock.Now()
		id.mu.Lock()
		if n := id.settled.nodes[name]; n != nil {
			n.learn(seq, now, id.Signed)
		}
		id.mu.Unlock()
	}
	id.Beside(ctx)
}

// tellSettled writes how far this node is, under a new nonce if anything was sent since the last: a snapshot made before has
// an older one, also where nothing has been settled since. What the row has must be what this run has written last, or the time before if that had no answer:
// else somebody else is this node too, and the next connect finds out who.
func (id *Identity) tellSettled(ctx context.Context) error {
	settled, err := outbox.SettledHere(ctx, id.Store)
	if err != nil {
		return err
	}
	id.mu.Lock()
	settled = max(settled, id.told)
	id.mu.Unlock()
	nonce, shown := id.nonces()
	if nonce == shown && id.sends.Swap(false) {
		switch fresh, err := id.drawNonce(ctx); {
		case err == nil:
			nonce = fresh
		case !fault.Is(err, fault.Full):
			return err
		default: // without room, the one that it has
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
		if now, _ := id.nonces(); now == nonce { // else it is being written anew just now
			id.Reconnect("the row of this node was written by another copy of it, or is gone")
		}
		return nil
	}
	if err != nil {
		return err
	}
	id.mu.Lock()
	id.told, id.shown = settled, nonce
	id.mu.Unlock()
	return nil
}

// ownNonce holds for a row that this run has written.
const ownNonce = "nonce = :nonce OR nonce = :shown"

// nonces returns the nonce drawn last, and the one that the cloud has answered to have: another one, where the last was
// not answered. One that the store has and the file had no room for was not drawn: the cloud is never told of it.
func (id *Identity) nonces() (drawn, shown string) {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.file.newest(), id.shown
}

// lastWord is what a run says at its end: to the cloud, as far as that can be reached at once, and to the file.
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

// lastWordTime is what the end of a run may take for it.
const lastWordTime = 2 * time.Second

// serverNow is the time as the cloud has it, as far as that is known.
func (id *Identity) serverNow() time.Time { return id.Clock.Now().Add(id.Cloud.Skew()) }
