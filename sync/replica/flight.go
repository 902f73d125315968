package replica

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// flight is a batch that is being sent.
type flight struct {
	*outbox.Batch
	read      *outbox.Read // since the request left whose answer is to be settled
	began     time.Time    // when that was, server-corrected
	outcome   intent.Outcome
	shown     []*intent.Known // by entry: the item as the last answer had it that showed one; nil: its base is newer, or none did
	known     []intent.Known  // as the answer was judged
	changed   bool            // the entries are not as the outbox has them
	wait      time.Time       // it is parked until; zero, if parked: until somebody pushes it
	why       string
	idle      bool      // nothing was asked: there was no reason to
	gone      bool      // it was not in the outbox any more
	epoch     uint64    // how many restores were known when its last request left
	answered  time.Time // server-corrected; zero: nothing was asked
	stuck     int       // how often its outcome could not be settled
	flagEpoch uint64    // of the node's histories, the one in which the batch was read: see rereadIfFlagged
}

// written are the batch's tables that an action writes to. A tombstone goes to the node's own table: it is no try of a table
// that is stopped, and that it was taken tells nothing of that.
func (f *flight) written(a *intent.Action) []string {
	return slices.DeleteFunc(f.Tables(), func(table string) bool {
		return !slices.ContainsFunc(a.Calls, func(c intent.Call) bool { return c.Table == table })
	})
}

// sees notes what an answer has shown of the batch's items.
func (f *flight) sees(known []*intent.Known) {
	if f.shown == nil {
		f.shown = make([]*intent.Known, len(f.Entries))
	}
	for i, k := range known {
		switch {
		case k == nil:
		case k.Item == nil: // what the absence means for the base is decided when it is settled
			f.shown[i] = nil
		default:
			f.shown[i] = k
		}
	}
}

// knownOf reads the bases of a flight's items. What an answer to the flight itself has shown since, and is stored when it is
// settled, comes first: a Put that was refused is computed anew from what refused it. Last is the flight's last request; nil:
// it has made none.
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

// seqHeap has the least sequence first.
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
	shown LaneUnit
}

// parkHeap has the earliest first.
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

// local is an instant of the server's clock by ours.
func (r *Replica) local(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(-r.cloud.Skew())
}
