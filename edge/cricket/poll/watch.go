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

// takeoverAfter is how long the tick of another node's match must stand still here before it may be taken over if its lease is free. It is
// measured on this node's own clock, as a lease is: what the other node's clock shows does not matter. A live match has a new tick every
// matches.TouchEvery, which is here some seconds later, so that the last tick is up to half a minute old then.
const takeoverAfter = 20 * time.Second

// watch is a match that this node watches.
type watch struct {
	id     string
	league int64
	starts time.Time // zero: unknown
	state  cricket.State
	lease  Lease
	tick   seenTick

	listed bool // it is or was recently in the live list
	absent int  // consecutive answers of the list without it

	took    source    // the answer last taken; zero: the next one counts as new whatever it says
	fence   int64     // the fence it was written under
	seen    time.Time // when that answer came
	raw     []byte    // its text, as far as it is cached
	touched time.Time // last write or touch

	asked time.Time // last single request
	left  time.Time // when it was found to have left the list
	final int       // number of final reads since then
	gone  time.Time // since when the feed does not have it; zero: it does

	silent bool // its display says so

	cleaned bool // cleaned up after

	since    time.Time      // when this node first knew of it
	gave     time.Time      // when this node handed it over; zero: never
	seenHere *cricket.State // what this node observed while it could not write; nil: nothing
}

// seenTick is the tick in the row of a match, and since when it has stood still here.
type seenTick struct {
	owner string
	at    time.Time // by the owner's clock: only whether it changes counts
	since time.Time
}

// seeTick notes whether the tick of a match's row has changed.
func (w *watch) seeTick(now time.Time) {
	if w.tick.owner == w.state.InstanceID && w.tick.at.Equal(w.state.LastTickAt) && !w.tick.since.IsZero() {
		return
	}
	w.tick = seenTick{owner: w.state.InstanceID, at: w.state.LastTickAt, since: now}
}

// silentSince returns since when nobody has been seen to poll a match: neither this node nor its owner.
func (w *watch) silentSince() time.Time { return latest(w.tick.since, w.touched) }

// source identifies an answer to a request: gen grows with every answer that differs from the previous one.
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

// newReading records an answer to a request.
func (p *Poller) newReading(request string, balls bool, r sportmonks.Reading) *reading {
	if !r.Unchanged || p.gens[request] == 0 {
		p.gens[request]++
	}
	return &reading{Reading: r, src: source{request, p.gens[request]}, balls: balls}
}

// sorted returns the watches by id, so that all nodes process them in the same order.
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
		w.seeTick(w.since)
		p.watched[id] = w
	}
	return w
}

// isMine reports whether this node should poll a match. A match without a row falls to the leader after
// soleWait, in case its assigned node does not see it in the list.
func (p *Poller) isMine(w *watch) bool {
	if w.lease != nil || p.observing || p.assigned[w.id] == p.Node {
		return true
	}
	return p.slot.leads() && w.state.Status == "" && p.Clock.Now().Sub(w.since) >= soleWait
}

// mayTake reports whether a match assigned to this node may be taken now: it has no owner, its owner hands it
// over, or its owner has been silent long enough.
func (p *Poller) mayTake(w *watch, now time.Time) bool {
	if w.lease != nil || p.observing {
		return true
	}
	owner := w.state.InstanceID
	return p.isMine(w) && (owner == "" || owner == p.Node || slices.Contains(p.slot.nodes, owner) ||
		now.Sub(w.tick.since) >= takeoverAfter)
}

// take applies a match of an answer to its state if this node holds the match's lease.
func (p *Poller) take(ctx context.Context, w *watch, s *cricket.Snapshot, r *reading, now time.Time) error {
	if w.took == r.src && (w.cleaned || !r.At.After(w.seen)) {
		return nil // the same answer is not a second observation, nor news of a match that is over
	}
	if p.observing {
		return p.observe(ctx, w, s, r)
	}
	w.league, w.starts = s.League.ID, s.StartsAt
	if !p.mayTake(w, now) {
		return nil
	}
	if w.seenHere != nil {
		w.took, w.seenHere = source{}, nil // its state does not include what was observed
	}
	if w.lease == nil && w.state.InstanceID != "" && w.state.InstanceID != p.Node {
		p.count(func(s *Status) { s.Takeovers++ })
	}
	lease, err := p.takeLock(ctx, tables.MatchLock(w.id))
	if err != nil {
		return err
	}
	if w.lease = lease; lease == nil {
		w.took = source{} // observer: the holder writes
		return nil
	}
	held, cancel := lease.Context(ctx)
	defer cancel()
	// A fence raised since then may have refused the last write: write again even if nothing has changed.
	anew := w.fence != lease.Fence()
	if w.took == r.src && w.state.Quiet() && !anew {
		return p.touch(held, w, now)
	}
	st, err := p.tick(held, w, p.withNames(s, r), lease)
	if err != nil {
		return err
	}
	news := anew || !bytes.Equal(w.raw, s.Raw)
	w.gave, w.seenHere = time.Time{}, nil
	w.state, w.touched, w.took, w.seen, w.raw, w.fence = st, now, r.src, r.At, s.Raw, lease.Fence()
	w.cleaned = w.cleaned && st.Status == cricket.ActiveEnded // otherwise it is played after all
	if news {
		p.queueReply(s, matches.Owner{Node: p.Node, Fence: lease.Fence()})
	}
	return p.putAside(ctx, w)
}

// putOff reports whether a match waits for another time. It is watched only while it is in the list: the list of fixtures says when.
func (w *watch) putOff() bool { return w.state.Status == cricket.ActivePostponed }

// putAside stops watching a match that waits for another time, unless the list has it.
func (p *Poller) putAside(ctx context.Context, w *watch) error {
	if !w.putOff() || w.listed {
		return nil
	}
	return p.drop(ctx, w)
}

// touch records from time to time that a match is being polled although nothing changes.
func (p *Poller) touch(ctx context.Context, w *watch, now time.Time) error {
	if now.Sub(w.touched) < matches.TouchEvery {
		return nil
	}
	err := p.writeFenced(ctx, w.lease, func(by matches.Owner) error { return p.Match.Touch(ctx, w.id, by) })
	if err == nil {
		w.touched = now
	}
	return err
}

func (p *Poller) tick(ctx context.Context, w *watch, s *cricket.Snapshot, lease Lease) (st cricket.State, err error) {
	err = p.writeFenced(ctx, lease, func(by matches.Owner) (err error) {
		st, err = p.Match.Tick(ctx, s, by)
		return err
	})
	if err != nil {
		w.took = source{} // the write is due: the next answer counts as new whatever it says
	}
	return st, err
}

// writeFenced writes under a lease. A lock record that was deleted by hand restarts below the match's fence. If this
// node still holds the lock, it raises the fence and writes again; if not, the attempt ends the lease. Raising
// blocks, so ctx, which ends with the lease, is checked before the second write.
func (p *Poller) writeFenced(ctx context.Context, lease Lease, write func(by matches.Owner) error) error {
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

// drop stops watching a match and releases its lease.
func (p *Poller) drop(ctx context.Context, w *watch) error {
	delete(p.watched, w.id)
	delete(p.gens, aloneRequest(w.id))
	if w.lease == nil {
		return nil
	}
	return w.lease.Release(context.WithoutCancel(ctx))
}
