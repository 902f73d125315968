package poll

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
)

// takeoverAfter is the silence after which the match of another node may be taken, if its lease is free.
const takeoverAfter = 30 * time.Second

// watch is a match that this node looks after.
type watch struct {
	id     string
	league int64
	starts time.Time // zero: not known
	state  cricket.State
	lease  Lease

	listed bool // the live list has it, or had it until lately
	absent int  // answers of the list in a row that did not have it

	took    source    // the answer that was taken in last; zero: the next one is news whatever it says
	fence   int64     // under which that was
	seen    time.Time // when that answer came
	raw     []byte    // its text, as far as it is cached
	touched time.Time // last write or touch

	asked time.Time // last reading of its own
	left  time.Time // when it was found to have left the list
	final int       // readings of its own since then, of those that are for its end
	gone  time.Time // since when the feed does not know it; zero: it does

	cleaned bool // nothing hangs on it any more

	since    time.Time      // when this node heard of it
	gave     time.Time      // when this node gave it away; zero: never
	seenHere *cricket.State // what this node saw itself while it could not write; nil: nothing
}

// source identifies an answer: of one request, the generation grows with every answer that differs from the one before.
type source struct {
	request string
	gen     int
}

// reading is an answer of the feed with its source.
type reading struct {
	sportmonks.Reading
	src   source
	balls bool
}

// newReading notes an answer to a request.
func (p *Poller) newReading(request string, balls bool, r sportmonks.Reading) *reading {
	if !r.Unchanged || p.gens[request] == 0 {
		p.gens[request]++
	}
	return &reading{Reading: r, src: source{request, p.gens[request]}, balls: balls}
}

// sorted returns the watches by id: what is done to several is done in the same order everywhere.
func (p *Poller) sorted() []*watch {
	out := make([]*watch, 0, len(p.watched))
	for _, id := range slices.Sorted(maps.Keys(p.watched)) {
		out = append(out, p.watched[id])
	}
	return out
}

func (p *Poller) watchOf(id string) *watch {
	w := p.watched[id]
	if w == nil {
		w = &watch{id: id, since: p.Clock.Now()}
		p.watched[id] = w
	}
	return w
}

// isMine reports whether a match is this node's to look after. One that is in no row yet is the leader's when the node
// whose share it is has had time to find it in the list.
func (p *Poller) isMine(w *watch) bool {
	if w.lease != nil || p.observing || p.assigned[w.id] == p.Node {
		return true
	}
	return p.slot.leads() && w.state.Status == "" && p.Clock.Now().Sub(w.since) >= soleWait
}

// mayTake reports whether a match that is this node's share may be taken now: it is nobody's, or of a node that gives it
// away, or of one that has gone and been silent for long enough.
func (p *Poller) mayTake(w *watch, now time.Time) bool {
	if w.lease != nil || p.observing {
		return true
	}
	owner := w.state.InstanceID
	return p.isMine(w) && (owner == "" || owner == p.Node || slices.Contains(p.slot.nodes, owner) ||
		now.Sub(w.state.LastTickAt) >= takeoverAfter)
}

// take takes a match of an answer into its state, if this node holds the match's lease.
func (p *Poller) take(ctx context.Context, w *watch, s *cricket.Snapshot, r *reading, now time.Time) error {
	if w.took == r.src && (w.cleaned || !r.At.After(w.seen)) {
		return nil // the same answer is no second observation, and no news of a match that is over
	}
	if p.observing {
		return p.observe(ctx, w, s, r)
	}
	w.league, w.starts = s.League.ID, s.StartsAt
	if !p.mayTake(w, now) {
		return nil
	}
	if w.seenHere != nil {
		w.took, w.seenHere = source{}, nil // its state has not had what was seen here
	}
	if w.lease == nil && w.state.InstanceID != "" && w.state.InstanceID != p.Node {
		p.count(func(s *Status) { s.Takeovers++ })
	}
	lease, err := p.hold(ctx, tables.MatchLock(w.id))
	if err != nil {
		return err
	}
	if w.lease = lease; lease == nil {
		w.took = source{} // an observer: the holder writes
		return nil
	}
	held, cancel := lease.Context(ctx)
	defer cancel()
	// A fence that was raised since had refused what was written: it is written anew, though nothing has changed.
	anew := w.fence != lease.Fence()
	if w.took == r.src && w.state.Quiet() && !anew {
		return p.touch(held, w, now)
	}
	st, err := p.tick(held, w, p.named(s, r), lease)
	if err != nil {
		return err
	}
	news := anew || !bytes.Equal(w.raw, s.Raw)
	w.gave, w.seenHere = time.Time{}, nil
	w.state, w.touched, w.took, w.seen, w.raw, w.fence = st, now, r.src, r.At, s.Raw, lease.Fence()
	if news {
		p.keep(s, matches.Owner{Node: p.Node, Fence: lease.Fence()})
	}
	return nil
}

// touch notes now and then that a match is watched although nothing changes.
func (p *Poller) touch(ctx context.Context, w *watch, now time.Time) error {
	if now.Sub(w.touched) < matches.TouchEvery {
		return nil
	}
	err := p.fenced(ctx, w.lease, func(by matches.Owner) error { return p.Match.Touch(ctx, w.id, by) })
	if err == nil {
		w.touched = now
	}
	return err
}

func (p *Poller) tick(ctx context.Context, w *watch, s *cricket.Snapshot, lease Lease) (st cricket.State, err error) {
	err = p.fenced(ctx, lease, func(by matches.Owner) (err error) {
		st, err = p.Match.Tick(ctx, s, by)
		return err
	})
	if err != nil {
		w.took = source{} // it is owed: the next answer is news whatever it says
	}
	return st, err
}

// fenced writes under a lease. A record of the lock that was deleted by hand begins below the fence of the match. Whoever
// still holds the lock raises it and goes on; who does not has lost the lease by asking. Raising blocks, so that the context, which
// is the lease's, is asked again before the second write.
func (p *Poller) fenced(ctx context.Context, lease Lease, write func(by matches.Owner) error) error {
	err := write(matches.Owner{Node: p.Node, Fence: lease.Fence()})
	fenced, ok := errors.AsType[*matches.FencedOffError](err)
	if !ok {
		return err
	}
	if err := lease.RaiseFence(ctx, fenced.Fence); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return write(matches.Owner{Node: p.Node, Fence: lease.Fence()})
}

// drop lets a match go.
func (p *Poller) drop(ctx context.Context, w *watch) error {
	delete(p.watched, w.id)
	delete(p.gens, aloneRequest(w.id))
	if w.lease == nil {
		return nil
	}
	return w.lease.Release(context.WithoutCancel(ctx))
}
