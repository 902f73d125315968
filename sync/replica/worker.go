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

// worker sends the batches of its partitions, one request at a time. It reads the outbox in order and takes the batches that are
// first on all their items: heads. A batch that becomes a head later is pushed to it. What waits, for an instant or for somebody,
// is put aside, and the worker goes on.
//
// A round settles the answers and marks what is sent next in one commit, then sends that, one batch after the other. So an
// in-flight window of sends costs one disk sync. A batch that was answered but not settled when the process dies is recognized by its mark.
type worker struct {
	r   *Replica
	no  uint8
	sig *clock.Signal

	hinted atomic.Uint64 // greatest sequence that Compile has written here; may be undone
	urgent atomic.Bool   // a caller waits for an acknowledgement

	mu          sync.Mutex
	pushed      []uint64      // batches that may have become heads
	rescanAsked bool          // read the outbox from its beginning
	all         bool          // reconsider everything put aside: its instants have changed
	show        []ParkedBatch // what is put aside, for the status
	kept        int           // number of stuck, for the status

	// Used by the worker's goroutine only.
	cursor   uint64              // the outbox is read up to here
	ended    bool                // there was nothing after cursor at the last read
	rescan   time.Time           // read the outbox again then, since some batches were left out; zero: none were
	inHand   map[uint64]struct{} // batches in ready, aside and inFlight
	missed   map[uint64]struct{} // those of them pushed while neither ready nor aside
	ready    seqHeap
	aside    parkHeap
	inFlight []*flight            // marked; the first is sent next
	done     []*flight            // answered, outcomes not settled yet
	checked  map[string]time.Time // by table: when it was last checked because an item vanished
	stuck    []stuck              // batches in hand whose outcomes cannot be settled now; they stay marked
	oldest   time.Time            // when the first of done was answered

	unanswered map[uint64]int // by batch: requests since the last answer that was not lost

	width int    // of the next in-flight window
	woken uint64 // used by housekeeping: commits announced so far
}

// ParkedBatch is a batch put aside.
type ParkedBatch struct {
	Seq   uint64
	Table string
	Why   string
	Until time.Time // zero: until what Why names
}

const (
	maxSteps   = 64 // per batch without a pause
	rescanWait = time.Second
	ackDelay   = 250 * time.Millisecond // how long an answer nobody waits for may wait to share a commit
	asideWait  = 30 * time.Second       // how often a batch is looked at whose notification may be missed
)

func newWorker(r *Replica, no int) *worker {
	return &worker{
		r: r, no: uint8(no), sig: clock.NewSignal(), inHand: map[uint64]struct{}{}, missed: map[uint64]struct{}{}, unanswered: map[uint64]int{}, checked: map[string]time.Time{}, width: 1,
	}
}

// hint records that Compile has written a batch, which exists once its transaction commits.
func (r *Replica) hint(id outbox.ID) {
	h := &r.workers[id.Worker].hinted
	for have := h.Load(); have < id.Seq && !h.CompareAndSwap(have, id.Seq); have = h.Load() {
	}
}

// push notifies a worker, after the commit, that a batch may have become a head.
func (r *Replica) push(id outbox.ID) {
	l := r.workers[id.Worker]
	l.mu.Lock()
	l.pushed = append(l.pushed, id.Seq)
	l.mu.Unlock()
	l.sig.Set()
}

// urge notifies a batch's worker that a caller waits for it.
func (r *Replica) urge(id outbox.ID) {
	l := r.workers[id.Worker]
	l.urgent.Store(true)
	l.sig.Set()
}

// rescan makes all workers read the outbox again: batches were inserted before their positions, or may go on.
func (r *Replica) rescan() {
	for _, l := range r.workers {
		l.mu.Lock()
		l.rescanAsked = true
		l.mu.Unlock()
		l.sig.Set()
	}
}

// skewSlack is how far the server's clock may seem to move against ours by chance: a Date has whole seconds.
const skewSlack = 2 * time.Second

// followClock makes the workers reconsider what they put aside when the server's clock has changed, because they wait for the server's
// instants by our clock. Example: a node that started with a wrong clock gets its first answer. It returns the skew to pass
// next time.
func (r *Replica) followClock(known time.Duration) time.Duration {
	skew := r.cloud.Skew()
	if (skew - known).Abs() < skewSlack {
		return known
	}
	r.reconsider()
	return skew
}

// reconsider makes all workers look again at what they put aside, because its reasons have changed, and read the outbox again for
// what did not fit.
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
		l.admitReady(now)
		until, err := l.round(ctx, now)
		if err != nil && ctx.Err() == nil {
			l.r.log.Error("the outbox cannot be processed", "worker", l.no, "error", err)
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

// round does the next thing and returns when there is more to do: now, if at once; zero: after a signal.
func (l *worker) round(ctx context.Context, now time.Time) (until time.Time, err error) {
	if len(l.inFlight) == 0 || l.due(now) {
		if err := l.fill(ctx, now); err != nil {
			return now, err
		}
	}
	if len(l.inFlight) == 0 {
		if (len(l.ready) > 0 || !l.ended) && l.r.net.WhenOnline(l.sig) {
			return now, nil // the chosen batches must wait; others need not
		}
		return l.nextAside(), nil
	}
	if !l.r.net.Enter(l.sig) {
		// A whole in-flight window may stay blocked for as long as the cloud is away: settle the answers.
		if len(l.done) > 0 {
			return now, l.settleAnswered(ctx, false, now)
		}
		return time.Time{}, nil
	}
	f := l.inFlight[0]
	finished := l.send(ctx, f)
	if !finished {
		return now, nil
	}
	l.inFlight = l.inFlight[1:]
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

// fill settles the answers and takes the next in-flight window.
func (l *worker) fill(ctx context.Context, now time.Time) error {
	if len(l.ready) < l.width {
		if err := l.scan(ctx, now); err != nil {
			return err
		}
	}
	pick := len(l.inFlight) == 0 && len(l.ready) > 0 && l.r.net.Online()
	if len(l.done) == 0 && !pick {
		return nil
	}
	return l.settleAnswered(ctx, pick, now)
}

// admitReady makes ready what was pushed and what has been aside long enough.
func (l *worker) admitReady(now time.Time) {
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
			l.missed[seq] = struct{}{} // it may be about to be put aside
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

// setAside parks a batch. until is zero if it will be pushed; even then it is looked at again after asideWait.
func (l *worker) setAside(seq uint64, until, now time.Time, table, why string) {
	shown := until
	if _, pushed := l.missed[seq]; pushed && until.IsZero() { // it was pushed already
		delete(l.missed, seq)
		l.addReady(seq)
		return
	}
	if until.IsZero() {
		until = now.Add(asideWait)
	}
	l.inHand[seq] = struct{}{}
	heap.Push(&l.aside, parked{seq: seq, until: until, shown: ParkedBatch{Seq: seq, Table: table, Why: why, Until: shown}})
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

// publishStatus publishes what is put aside.
func (l *worker) publishStatus() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.show, l.kept = l.show[:0], len(l.stuck)
	for i := 0; i < len(l.stuck) && i < maxParks; i++ {
		l.show = append(l.show, l.stuck[i].parkedBatch())
	}
	for i := 0; i < len(l.aside) && len(l.show) < maxParks; i++ {
		l.show = append(l.show, l.aside[i].shown)
	}
}

// parkedBatches lists batches put aside, up to maxParks.
func (l *worker) parkedBatches() []ParkedBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]ParkedBatch(nil), l.show...)
}

// scan reads the outbox from the worker's position until it has enough heads for an in-flight window or reaches the end.
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
	var batches []*outbox.Batch
	err := tx.Side(outbox.SideOutbox).Each([]byte{l.no}, outbox.ID{Worker: l.no, Seq: l.cursor}.Key(), func(k, v []byte) (bool, error) {
		u, err := outbox.Decode(outbox.ID{Worker: l.no, Seq: outbox.SeqOf(k)}, v)
		if err != nil {
			return false, err
		}
		batches = append(batches, u)
		return len(batches) < l.r.limits.Scan, nil
	})
	if err != nil {
		return err
	}
	for _, u := range batches {
		if len(l.ready) >= l.width {
			return nil
		}
		if err := l.reconcile(tx, u, now); err != nil {
			return err
		}
		l.cursor = u.ID.Seq
	}
	l.ended = len(batches) < l.r.limits.Scan
	return nil
}

// reconcile decides what to do with a batch that the scan meets.
func (l *worker) reconcile(tx *store.Tx, u *outbox.Batch, now time.Time) error {
	if _, have := l.inHand[u.ID.Seq]; have || u.IsHeld() {
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

// waitOf returns until when a batch waits, and why.
func (l *worker) waitOf(u *outbox.Batch, now time.Time) (until time.Time, why string) {
	until, why = l.r.local(u.ParkedUntil(l.r.serverNow())), u.Entries[0].Why
	if stopped := l.r.paces.StoppedUntil(u.Tables(), now); stopped.After(until) {
		return stopped, flow.WhyStopped
	}
	return until, why
}

// publishHeads updates memory after a commit of the replicator: workers learn the new heads, and waiting callers are notified.
func (r *Replica) publishHeads(w *outbox.Work) {
	for _, it := range w.Order {
		for _, id := range it.Heads {
			r.push(id)
		}
		if it.Refetch {
			r.feed.Book(it.Spec.Name, it.Key)
		}
	}
	for _, u := range w.Gone {
		r.waiting.notifyAll(u)
		r.events.notifyBehind(r, u)
	}
	for _, id := range w.Renumbered { // waiting callers look up its new place
		r.waiting.notifySettled(id.Seq)
	}
	for _, u := range w.Held {
		r.waiting.notifyAll(u)
		r.events.notifyBehind(r, u)
	}
	if w.Many {
		r.rescan()
	}
	for _, text := range w.Bad {
		r.log.Error("the cloud has an item that this node cannot store", "error", text)
	}
}
