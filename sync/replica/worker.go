package replica

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// worker sends the batches of its partitions, one request at a time. It reads the outbox in order and takes from it the batches
// that are the first on all their items: heads. One that is not will be pushed to it when it has become one. What waits,
// for an instant or for somebody, is put aside, and the lane goes on.
//
// A round: settle what was answered and mark what is sent next, in one commit; then send that, one after the other. So
// the disk is asked once for a window of sends. What is answered and not settled when the process dies is known by its
// mark.
type worker struct {
	r   *Replica
	no  uint8
	sig *clock.Signal

	hinted atomic.Uint64 // greatest sequence that Compile has written here, maybe to be undone
	urgent atomic.Bool   // somebody waits for an acknowledgement

	mu          sync.Mutex
	pushed      []uint64   // batches to look at, from whoever made them heads
	rescanAsked bool       // read the outbox from its beginning
	all         bool       // look at all that waits aside: its instants are others now
	show        []LaneUnit // what waits aside, for the status
	kept        int        // of stuck, for the status

	// Of the lane's own goroutine.
	cursor uint64              // the outbox is read up to here
	ended  bool                // there was nothing behind cursor at the last look
	rescan time.Time           // read it anew then: what was left out may go; zero: nothing was
	inHand map[uint64]struct{} // batches in ready, aside and window
	missed map[uint64]struct{} // of them, what was pushed while it was neither ready nor aside
	ready  seqHeap
	aside  parkHeap
	window []*flight            // marked; the first is sent next
	done   []*flight            // their outcomes are not settled yet
	looked map[string]time.Time // at which table, because of what has gone from it
	stuck  []stuck              // batches in hand whose outcomes cannot be settled now: they stay marked
	oldest time.Time            // the first of them came
	width  int                  // of the next window
	woken  uint64               // of the housekeeping: commits up to here have been told
}

// LaneUnit is a batch that waits aside.
type LaneUnit struct {
	Seq   uint64
	Table string
	Why   string
	Until time.Time // zero: until what Why names
}

const (
	maxSteps   = 64 // of a batch without a pause
	rescanWait = time.Second
	ackDelay   = 250 * time.Millisecond // an answer nobody waits for may wait so long for others to share its commit
	asideWait  = 30 * time.Second       // what waits for something that may be missed is looked at again
)

func newWorker(r *Replica, no int) *worker {
	return &worker{
		r: r, no: uint8(no), sig: clock.NewSignal(), inHand: map[uint64]struct{}{}, missed: map[uint64]struct{}{}, looked: map[string]time.Time{}, width: 1,
	}
}

// hint notes that Compile has written a batch, which is there if its transaction is committed.
func (r *Replica) hint(id outbox.ID) {
	h := &r.workers[id.Lane].hinted
	for have := h.Load(); have < id.Seq && !h.CompareAndSwap(have, id.Seq); have = h.Load() {
	}
}

// push notifies a lane that a batch may be a head now. It follows the commit that made it one.
func (r *Replica) push(id outbox.ID) {
	l := r.workers[id.Lane]
	l.mu.Lock()
	l.pushed = append(l.pushed, id.Seq)
	l.mu.Unlock()
	l.sig.Set()
}

// urge notifies the lane of a batch that a caller waits for it.
func (r *Replica) urge(id outbox.ID) {
	l := r.workers[id.Lane]
	l.urgent.Store(true)
	l.sig.Set()
}

// rescan has all lanes read the outbox anew: batches were put in before where they stand, or may go on.
func (r *Replica) rescan() {
	for _, l := range r.workers {
		l.mu.Lock()
		l.rescanAsked = true
		l.mu.Unlock()
		l.sig.Set()
	}
}

// skewSlack is how far the server's clock may move against ours without anybody's noticing: it tells whole seconds.
const skewSlack = 2 * time.Second

// followClock has the lanes look at what waits aside when the server's clock is another than they knew: they wait by ours
// for instants of the server. That is so when a node that began with a wrong clock has its first answer. It gives what to
// call it with the next time.
func (r *Replica) followClock(known time.Duration) time.Duration {
	skew := r.cloud.Skew()
	if (skew - known).Abs() < skewSlack {
		return known
	}
	r.reconsider()
	return skew
}

// reconsider has all lanes look at what waits aside, for what it waits for is no more what they knew, and read the outbox
// anew for what did not fit there.
func (r *Replica) reconsider() {
	for _, l := range r.workers {
		l.mu.Lock()
		l.all = true
		l.mu.Unlock()
	}
	r.rescan()
}

// run sends until ctx ends.
func (l *worker) run(ctx context.Context) error {
	defer l.flush(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		now := l.r.clock.Now()
		l.take(now)
		until, err := l.round(ctx, now)
		if err != nil && ctx.Err() == nil {
			l.r.log.Error("the outbox cannot be processed", "lane", l.no, "error", err)
			until = now.Add(time.Second)
		}
		if until.Equal(now) {
			continue
		}
		l.publishStatus() // it may sleep for long
		if l.r.clock.Wait(ctx, until, l.sig) != nil {
			break
		}
	}
	return context.Cause(ctx)
}

// round does the next thing, and tells until when there is nothing to do: now, if there is; zero: until a signal.
func (l *worker) round(ctx context.Context, now time.Time) (until time.Time, err error) {
	if len(l.window) == 0 || l.due(now) {
		if err := l.fill(ctx, now); err != nil {
			return now, err
		}
	}
	if len(l.window) == 0 {
		if (len(l.ready) > 0 || !l.ended) && l.r.net.WhenOnline(l.sig) {
			return now, nil // those that were chosen have to wait; others need not
		}
		return l.nextAside(), nil
	}
	if !l.r.net.Enter(l.sig) {
		// A whole window may be in the way of others for as long as the cloud is away: what was answered is settled.
		if len(l.done) > 0 {
			return now, l.settle(ctx, false, now)
		}
		return time.Time{}, nil
	}
	f := l.window[0]
	finished := l.send(ctx, f)
	if !finished {
		return now, nil
	}
	l.window = l.window[1:]
	if len(l.done) == 0 {
		l.oldest = l.r.clock.Now()
	}
	l.done = append(l.done, f)
	return now, nil
}

// due reports whether answers have waited long enough to be settled.
func (l *worker) due(now time.Time) bool {
	if len(l.done) == 0 {
		return false
	}
	return now.Sub(l.oldest) >= ackDelay || l.urgent.Load()
}

// fill settles what was answered and takes the next window.
func (l *worker) fill(ctx context.Context, now time.Time) error {
	if len(l.ready) < l.width {
		if err := l.scan(ctx, now); err != nil {
			return err
		}
	}
	pick := len(l.window) == 0 && len(l.ready) > 0 && l.r.net.Online()
	if len(l.done) == 0 && !pick {
		return nil
	}
	return l.settle(ctx, pick, now)
}

// take moves what others have pushed, and what has waited aside long enough, to where the lane looks.
func (l *worker) take(now time.Time) {
	l.mu.Lock()
	pushed, again, all := l.pushed, l.rescanAsked, l.all
	l.pushed, l.rescanAsked, l.all = nil, false, false
	l.mu.Unlock()
	if again || !l.rescan.IsZero() && !now.Before(l.rescan) {
		l.cursor, l.ended, l.rescan = 0, false, time.Time{}
	}
	for _, seq := range pushed {
		if i := l.aside.find(seq); i >= 0 {
			heap.Remove(&l.aside, i)
			heap.Push(&l.ready, seq)
			continue
		}
		if _, have := l.inHand[seq]; have {
			l.missed[seq] = struct{}{} // it may be on its way aside
			continue
		}
		l.addReady(seq)
	}
	for len(l.aside) > 0 && (all || !l.aside[0].until.After(now)) {
		heap.Push(&l.ready, heap.Pop(&l.aside).(parked).seq) //nolint:forcetypeassert // it holds nothing else
	}
	if l.hinted.Load() > l.cursor {
		l.ended = false
	}
	l.tryStuck(now)
}

func (l *worker) addReady(seq uint64) {
	if _, have := l.inHand[seq]; have {
		return
	}
	l.inHand[seq] = struct{}{}
	heap.Push(&l.ready, seq)
}

// setAside has a batch wait. until is zero for what somebody else will push: it is looked at again all the same.
func (l *worker) setAside(seq uint64, until, now time.Time, table, why string) {
	shown := until
	if _, pushed := l.missed[seq]; pushed && until.IsZero() { // somebody has, already
		delete(l.missed, seq)
		l.addReady(seq)
		return
	}
	if until.IsZero() {
		until = now.Add(asideWait)
	}
	l.inHand[seq] = struct{}{}
	heap.Push(&l.aside, parked{seq: seq, until: until, shown: LaneUnit{Seq: seq, Table: table, Why: why, Until: shown}})
}

func (l *worker) nextAside() time.Time {
	until := l.rescan
	sooner := func(at time.Time) {
		if until.IsZero() || at.Before(until) {
			until = at
		}
	}
	if len(l.aside) > 0 {
		sooner(l.aside[0].until)
	}
	for i := range l.stuck {
		sooner(l.stuck[i].again)
	}
	return until
}

// publishStatus keeps for the status what waits aside.
func (l *worker) publishStatus() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.show, l.kept = l.show[:0], len(l.stuck)
	for i := 0; i < len(l.stuck) && i < maxParks; i++ {
		l.show = append(l.show, l.stuck[i].shown())
	}
	for i := 0; i < len(l.aside) && len(l.show) < maxParks; i++ {
		l.show = append(l.show, l.aside[i].shown)
	}
}

// parkedUnits lists what waits aside in the lane, some of it.
func (l *worker) parkedUnits() []LaneUnit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]LaneUnit(nil), l.show...)
}

// scan reads the outbox on from where the lane stands until it has enough heads for a window, or has come to the end.
func (l *worker) scan(ctx context.Context, now time.Time) error {
	for !l.ended && len(l.ready) < l.width && ctx.Err() == nil {
		err := l.r.store.View(ctx, func(tx *store.Tx) error { return l.scanSlice(tx, now) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *worker) scanSlice(tx *store.Tx, now time.Time) error {
	var units []*outbox.Batch
	err := tx.Side(outbox.SideOutbox).Each([]byte{l.no}, outbox.ID{Lane: l.no, Seq: l.cursor}.Key(), func(k, v []byte) (bool, error) {
		u, err := outbox.Decode(outbox.ID{Lane: l.no, Seq: outbox.SeqOf(k)}, v)
		if err != nil {
			return false, err
		}
		units = append(units, u)
		return len(units) < l.r.limits.Scan, nil
	})
	if err != nil {
		return err
	}
	for _, u := range units {
		if len(l.ready) >= l.width {
			return nil
		}
		if err := l.look(tx, u, now); err != nil {
			return err
		}
		l.cursor = u.ID.Seq
	}
	l.ended = len(units) < l.r.limits.Scan
	return nil
}

// look decides what becomes of a batch that the lane comes by.
func (l *worker) look(tx *store.Tx, u *outbox.Batch, now time.Time) error {
	if _, have := l.inHand[u.ID.Seq]; have || u.Held() {
		return nil
	}
	head, err := l.r.box.IsHead(tx, u)
	if err != nil || !head {
		return err
	}
	wait, why := l.waitOf(u, now)
	switch {
	case !wait.After(now):
		l.addReady(u.ID.Seq)
	case len(l.inHand) < l.r.limits.Aside:
		l.setAside(u.ID.Seq, wait, now, u.Table(), why)
	default: // too many to remember
		at := flow.MaxTime(wait, now.Add(rescanWait))
		if l.rescan.IsZero() || at.Before(l.rescan) {
			l.rescan = at
		}
	}
	return nil
}

// waitOf is until when a batch waits, and why.
func (l *worker) waitOf(u *outbox.Batch, now time.Time) (until time.Time, why string) {
	until, why = l.r.local(u.ParkedUntil(l.r.serverNow())), u.Entries[0].Why
	if stopped := l.r.paces.StoppedUntil(u.Tables(), now); stopped.After(until) {
		return stopped, flow.WhyStopped
	}
	return until, why
}

// moved has memory follow a commit of the driver: lanes learn which batches are heads now, and who waits is told.
func (r *Replica) moved(w *outbox.Work) {
	for _, it := range w.Order {
		for _, id := range it.Heads {
			r.push(id)
		}
		if it.Refetch {
			r.feed.Book(it.Spec.Name, it.Key)
		}
	}
	for _, u := range w.Gone {
		r.waiting.ended(u)
		r.events.settled(r, u)
	}
	for _, id := range w.Renumbered { // who waits looks where it is now
		r.waiting.settled(id.Seq)
	}
	for _, u := range w.Held {
		r.waiting.ended(u)
		r.events.settled(r, u)
	}
	if w.Many {
		r.rescan()
	}
	for _, text := range w.Bad {
		r.log.Error("the cloud has an item that this node cannot store", "error", text)
	}
}
