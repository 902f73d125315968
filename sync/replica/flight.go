package replica

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
	"github.com/touchline/touchline/sync/replica/restore"
)

// flight is a batch that is being sent.
type flight struct {
	*outbox.Batch
	read      *outbox.Read // the read that began when the request left whose answer is to be settled
	began     time.Time    // when that request left, server-corrected
	outcome   intent.Outcome
	shown     []*intent.Known // by entry: the item as last shown by an answer; nil: none showed it, or its base is newer
	known     []intent.Known  // the bases with which the answer was judged
	rest      *feed.Readings  // of a refused transaction: items that the refusal did not show; nil: none
	changed   bool            // the entries differ from the outbox
	wait      time.Time       // parked until then; zero, if parked: until it is pushed
	why       string
	idle      bool      // no request was made; none was needed
	gone      bool      // it had left the outbox
	epoch     uint64    // number of restores known when its last request left
	answered  time.Time // server-corrected; zero: no request was made
	stuck     int       // how often settling its outcome has failed
	flagEpoch uint64    // value of Outbox.Flags when the batch was read: see rereadIfFlagged
}

// tablesWritten returns the batch's tables that an action writes. A tombstone goes to the node's own table: it does not count as a try of a
// stopped table, and its success says nothing about that table.
func (f *flight) tablesWritten(a *intent.Action) []string {
	return slices.DeleteFunc(f.Tables(), func(table string) bool {
		return !slices.ContainsFunc(a.Calls, func(c intent.Call) bool { return c.Table == table })
	})
}

// recordShown records what an answer has shown of the batch's items.
func (f *flight) recordShown(known []*intent.Known) {
	if f.shown == nil {
		f.shown = make([]*intent.Known, len(f.Entries))
	}
	for i, k := range known {
		switch {
		case k == nil:
		case k.Item == nil: // the absence's meaning for the base is decided on settling
			f.shown[i] = nil
		default:
			f.shown[i] = k
		}
	}
}

// knownOf reads the bases of a flight's items. Images shown by answers to the flight itself, which are stored only when it settles,
// take precedence: a refused Put is computed again from the image that refused it. last is the flight's last request; nil: none.
func (r *Replica) knownOf(tx *store.Tx, f *flight, last *outbox.Read) ([]intent.Known, error) {
	out := make([]intent.Known, len(f.Entries))
	for i, e := range f.Entries {
		spec := r.spec(e.Table)
		if spec == nil {
			continue
		}
		it, err := outbox.ItemOf(tx, spec, e.Key)
		if err != nil {
			return nil, err
		}
		sh, err := outbox.RemoteOf(tx, it)
		if err != nil {
			return nil, err
		}
		if sh != nil && !sh.Lost {
			out[i] = sh.Known
		}
		if f.shown == nil || f.shown[i] == nil {
			continue
		}
		if last == nil || last.Overtaken(it.ID()) {
			f.shown[i] = nil
			continue
		}
		out[i] = *f.shown[i]
	}
	return out, nil
}

// seqHeap is a heap with the smallest sequence first.
type seqHeap []uint64

func (h seqHeap) Len() int           { return len(h) }
func (h seqHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h seqHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *seqHeap) Push(x any) { *h = append(*h, x.(uint64)) } //nolint:forcetypeassert // heap.Push is given nothing else

// Pop implements heap.Interface.
func (h *seqHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

type parked struct {
	seq   uint64
	until time.Time
	shown ParkedBatch
}

// parkHeap is a heap with the earliest first.
type parkHeap []parked

func (h parkHeap) Len() int { return len(h) }
func (h parkHeap) Less(i, j int) bool {
	if h[i].until.Equal(h[j].until) {
		return h[i].seq < h[j].seq
	}
	return h[i].until.Before(h[j].until)
}
func (h parkHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *parkHeap) Push(x any) { *h = append(*h, x.(parked)) } //nolint:forcetypeassert // heap.Push is given nothing else

// Pop implements heap.Interface.
func (h *parkHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func (h parkHeap) find(seq uint64) int {
	for i := range h {
		if h[i].seq == seq {
			return i
		}
	}
	return -1
}

// local converts an instant of the server's clock to the time of our loops.
func (r *Replica) local(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return clock.NowAt(r.clock, at.Add(-r.cloud.Skew()))
}

// rereadIfFlagged reads a batch again if the worker read it before the node left a history: it may have been flagged since.
func (r *Replica) rereadIfFlagged(ctx context.Context, f *flight) error {
	if f.flagEpoch == r.box.Flags.Load() {
		return nil
	}
	return r.readAnew(ctx, f)
}

// readAnew reads again a batch that the worker has in hand.
func (r *Replica) readAnew(ctx context.Context, f *flight) error {
	now := r.box.Flags.Load()
	return r.store.View(ctx, func(tx *store.Tx) error {
		u, err := outbox.Get(tx, f.ID)
		if err != nil {
			return err
		}
		if u != nil { // otherwise settling its answer finds out
			f.keepSent(u)
			f.Batch, f.shown = u, nil
		}
		f.flagEpoch = now
		return nil
	})
}

// keepSent copies to a stored batch what the flight knows better about past sends: only the mark was stored.
func (f *flight) keepSent(u *outbox.Batch) {
	for i, e := range u.Entries {
		if len(u.Entries) != len(f.Entries) {
			return
		}
		mine := f.Entries[i]
		f.changed = f.changed || mine.Sent > e.Sent || mine.Unsure && !e.Unsure
		e.Sent, e.Unsure = max(e.Sent, mine.Sent), e.Unsure || mine.Unsure
	}
}

// keepLost keeps the flags that a batch was given while on its way, because the node left a history or a table was restored. replay
// reports that the batch must now be verified.
func (r *Replica) keepLost(f *flight, there *outbox.Batch) (replay bool) {
	for i, e := range there.Entries {
		if len(there.Entries) == len(f.Entries) && e.FlaggedSince(f.Entries[i]) {
			replay = true
			f.Entries[i].TakeReplay(e)
		}
	}
	if f.flagEpoch == r.box.Flags.Load() || len(there.Entries) != len(f.Entries) {
		return replay
	}
	for i, e := range there.Entries {
		if e.MaybeSentByOtherRun() {
			f.Entries[i].MarkLost()
		}
	}
	return replay
}

// restoredSince reports whether a table of a batch was found to be restored after the request left whose answer says that it was
// applied: it may have been applied to data that is gone. flagged says that this happened since the batch was read from the outbox;
// a transaction applied before may have read its images after that.
func (r *Replica) restoredSince(f *flight, flagged bool) (b restore.Book, yes bool) {
	same := f.epoch == r.tables.Epoch() && !flagged
	if f.outcome.Result != intent.OutApplied || same || f.Entries[0].Policy == store.PolicyState {
		return b, false
	}
	return r.tables.NoticedSince(f.Entries) // the latest one: a proof from before it proves nothing
}

// reopen keeps such a batch in the outbox, to be verified.
func (r *Replica) reopen(w *outbox.Work, f *flight, b *restore.Book, now time.Time) {
	for _, e := range f.Entries {
		b.Replay(e, r.timeApplied(f))
	}
	f.outcome, f.changed = intent.Outcome{Result: intent.OutParked}, true
	f.park(now, intent.WhyReplay)
	w.Rewrite(f.Batch)
	w.Fail(r.tables.RecordVerified(w.Tx, f.Batch))
}

// timeApplied returns when a batch was known to be applied, by the server's clock.
func (r *Replica) timeApplied(f *flight) time.Time {
	if f.answered.IsZero() {
		return r.serverNow()
	}
	return f.answered
}

// ask carries out an action. An error is the node's own: nothing was sent.
func (l *worker) ask(ctx context.Context, f *flight, a *intent.Action) (intent.Answer, error) {
	if a.Attempt {
		if err := l.attempt(ctx, f, a); err != nil {
			return intent.Answer{}, err
		}
	}
	if a.Kind == intent.ActSend {
		l.r.identity.RecordSending()
	}
	l.r.cfg.Failpoint("send")
	within, cancel := context.WithTimeout(ctx, l.answerLimit(f))
	defer cancel()
	var ans intent.Answer
	var err error
	switch {
	case a.Kind == intent.ActRead:
		ans.Items, err = l.readAll(ctx, f, a.Reads)
	case a.Transact:
		err = l.r.cloud.Transact(within, a.Calls, l.r.token())
	default:
		ans.Image, err = l.r.cloud.Write(within, a.Calls[0])
	}
	ans.Err = remote.AsError(err)
	l.r.cfg.Failpoint("answer")
	return ans, nil
}

// answerLimit returns how long to wait for an answer about a batch.
func (l *worker) answerLimit(f *flight) time.Duration {
	return min(l.r.cfg.Deadline, l.r.net.AnswerLimit(l.unanswered[f.ID.Seq], f.Size))
}

// readAll reads items, each with a time limit of its own.
func (l *worker) readAll(ctx context.Context, f *flight, refs []intent.Ref) (images []attr.Item, err error) {
	for _, ref := range refs {
		inner, cancel := context.WithTimeout(ctx, l.answerLimit(f))
		image, err := l.r.cloud.Get(inner, ref.Table, ref.Key)
		cancel()
		if err != nil {
			return images, err
		}
		images = append(images, image)
	}
	return images, nil
}

// Why a batch waits whose request was not answered.
const (
	whyNoAnswer  = "no answer"
	whyUnreached = "the cloud could not be reached"
)

// unansweredWait counts a request about a batch that was not answered, and returns when to repeat it.
func (l *worker) unansweredWait(f *flight) time.Duration {
	tries := l.unanswered[f.ID.Seq]
	l.unanswered[f.ID.Seq] = tries + 1
	return unknownWait().Delay(tries, l.r.float())
}

func unknownWait() backoff.Policy {
	return backoff.Policy{Base: 200 * time.Millisecond, Max: 30 * time.Second}
}
