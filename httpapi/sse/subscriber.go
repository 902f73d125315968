package sse

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/touchline/touchline/internal/clock"
)

// maxPending is how many events may wait for a slow client before it is given a snapshot instead.
const maxPending = 128

// Subscriber is a reader's bounded inbox. Of each slot only the newest frame waits, so that a client that reads slowly skips
// states and not more; too many events turn into a snapshot.
type Subscriber struct {
	Sig *clock.Signal // set when there is something to take

	wake bool // wants to be woken, not to be sent anything
	out  atomic.Pointer[Conn]

	mu     sync.Mutex
	slots  []Frame // one of each slot: few, so that to look through them costs less than a map
	events []Frame
	lost   bool
	only   map[string]bool // nil: frames of whatever
}

// NewSubscriber creates an inbox without a broadcaster. With wake it takes no frames: its reader is only woken.
func NewSubscriber(wake bool) *Subscriber { return &Subscriber{wake: wake, Sig: clock.NewSignal()} }

// Offer puts frames into the inbox. It never blocks.
func (s *Subscriber) Offer(frames ...Frame) {
	if s.wake {
		s.Sig.Set()
		return
	}
	some := false
	s.mu.Lock()
	for i := range frames {
		f := &frames[i]
		switch {
		case f.Name == "", s.only != nil && !s.only[f.Of]:
			continue // nothing to send
		case s.lost: // a snapshot is due: it has this too
		case f.Slot != "":
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
		s.Sig.Set()
	}
}

// Only has the inbox keep and take what is of some alone (Frame.Of).
func (s *Subscriber) Only(of []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.only = make(map[string]bool, len(of))
	for _, one := range of {
		s.only[one] = true
	}
	others := func(f Frame) bool { return !s.only[f.Of] }
	s.slots, s.events = slices.DeleteFunc(s.slots, others), slices.DeleteFunc(s.events, others)
}

func (s *Subscriber) replace(f *Frame) {
	for i := range s.slots {
		if s.slots[i].Slot == f.Slot {
			s.slots[i] = *f
			return
		}
	}
	s.slots = append(s.slots, *f)
}

// lose makes the stream start over with a snapshot.
func (s *Subscriber) lose() {
	s.mu.Lock()
	s.drop()
	s.mu.Unlock()
	s.Sig.Set()
}

func (s *Subscriber) drop() {
	s.lost, s.events, s.slots = true, nil, nil
}

// Take empties the inbox: frames in the order of the journal, or lost when only a snapshot will do.
func (s *Subscriber) Take() (frames []Frame, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		s.lost = false
		return nil, true
	}
	frames = append(s.events, s.slots...)
	s.events, s.slots = nil, nil
	slices.SortFunc(frames, func(a, b Frame) int { return cmp.Compare(a.Seq, b.Seq) })
	return frames, false
}

// Attach says where the inbox is written to, so that a broadcaster that shuts down can hurry it.
func (s *Subscriber) Attach(c *Conn) { s.out.Store(c) }
