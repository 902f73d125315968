package httpapi

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/touchline/touchline/internal/clock"
)

// maxPending is how many events may wait for a slow client before it is given a snapshot instead.
const maxPending = 128

// subscriber is a stream's place at the hub: a bounded inbox. Of display and card only the newest waits, so that a
// client that reads slowly skips states and not more; too many events turn into a snapshot.
type subscriber struct {
	match string        // "" for all
	wake  bool          // wants to be woken, not to be sent anything
	sig   *clock.Signal // set when there is something to take
	out   atomic.Pointer[sse]

	mu     sync.Mutex
	slots  []frame // one of each slot: few, so that to look through them costs less than a map
	events []frame
	lost   bool
}

func newSubscriber(match string, wake bool) *subscriber {
	return &subscriber{match: match, wake: wake, sig: clock.NewSignal()}
}

// offer puts frames into the inbox. It never blocks.
func (s *subscriber) offer(frames ...frame) {
	if s.wake {
		s.sig.Set()
		return
	}
	some := false
	s.mu.Lock()
	for i := range frames {
		f := &frames[i]
		switch {
		case f.name == "":
			continue // nothing to send
		case s.lost: // a snapshot is due: it has this too
		case f.slot != "":
			s.replace(f)
		case len(s.events) < maxPending:
			s.events = append(s.events, *f)
		default:
			s.drop()
		}
		some = true
	}
	s.mu.Unlock()
	if some {
		s.sig.Set()
	}
}

func (s *subscriber) replace(f *frame) {
	for i := range s.slots {
		if s.slots[i].slot == f.slot {
			s.slots[i] = *f
			return
		}
	}
	s.slots = append(s.slots, *f)
}

// lose makes the stream start over with a snapshot.
func (s *subscriber) lose() {
	s.mu.Lock()
	s.drop()
	s.mu.Unlock()
	s.sig.Set()
}

func (s *subscriber) drop() {
	s.lost, s.events, s.slots = true, nil, nil
}

// take empties the inbox: frames in the order of the journal, or lost when only a snapshot will do.
func (s *subscriber) take() (frames []frame, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		s.lost = false
		return nil, true
	}
	frames = append(s.events, s.slots...)
	s.events, s.slots = nil, nil
	slices.SortFunc(frames, func(a, b frame) int { return cmp.Compare(a.seq, b.seq) })
	return frames, false
}
