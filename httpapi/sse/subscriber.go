package sse

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/touchline/touchline/internal/clock"
)

// maxPending is how many events may wait for a slow client before it gets a snapshot instead.
const maxPending = 128

// Subscriber is a reader's bounded inbox. Only the newest frame of each slot waits, so a slow client skips states but no events. If too
// many events wait, the reader gets a snapshot.
type Subscriber struct {
	Sig *clock.Signal // set when TakeFrames has something

	wake bool // only wakes the reader; receives no frames
	out  atomic.Pointer[Conn]

	mu     sync.Mutex
	slots  []Frame // one per slot; few, so a linear search is cheaper than a map
	events []Frame
	lost   bool
	only   map[string]bool // accepted Frame.Of; nil: all
}

// NewSubscriber returns an inbox without a broadcaster. With wake it receives no frames, and only wakes its reader.
func NewSubscriber(wake bool) *Subscriber { return &Subscriber{wake: wake, Sig: clock.NewSignal()} }

// Offer adds frames to the inbox. It never blocks.
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
		case s.lost: // a snapshot is due and will include this
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

// RestrictTo restricts the inbox, including waiting frames, to the given subjects (Frame.Of).
func (s *Subscriber) RestrictTo(of []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.only = make(map[string]bool, len(of))
	for _, subject := range of {
		s.only[subject] = true
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

// lose makes the stream continue with a snapshot.
func (s *Subscriber) lose() {
	s.mu.Lock()
	s.drop()
	s.mu.Unlock()
	s.Sig.Set()
}

func (s *Subscriber) drop() {
	s.lost, s.events, s.slots = true, nil, nil
}

// TakeFrames empties the inbox and returns its frames in journal order. lost means that a snapshot is needed instead.
func (s *Subscriber) TakeFrames() (frames []Frame, lost bool) {
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

// Attach sets the connection that the inbox is written to, for Broadcaster.Hurry.
func (s *Subscriber) Attach(c *Conn) { s.out.Store(c) }
