package clock

import "sync"

// Signal is a level, not a queue: however often it is set, the waiter sees it once. Unlike a buffered channel it stays set until the
// waiter leaves Wait, so that a stepped clock never mistakes a loop about to run for an idle one. One loop waits on a signal; anyone may
// set it. A nil signal is never set.
type Signal struct {
	mu  sync.Mutex
	set bool
	ch  chan struct{}
}

// NewSignal returns a signal that is not set.
func NewSignal() *Signal { return &Signal{ch: make(chan struct{})} }

// Set wakes the waiter, now or at its next wait.
func (s *Signal) Set() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.set {
		s.set = true
		close(s.ch)
	}
}

// C returns a channel that is closed while the signal is set. After Clear, call C again.
func (s *Signal) C() <-chan struct{} {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}

// Clear clears the signal. Check what it announced after Clear, not before.
func (s *Signal) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set {
		s.set = false
		s.ch = make(chan struct{})
	}
}

func (s *Signal) isSet() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}
