package txn

import (
	"sync"

	"github.com/touchline/touchline/internal/clock"
)

// watches is the set of signals that a commit sets. The zero value is ready for use.
type watches struct {
	mu   sync.Mutex
	sigs map[*clock.Signal]int
}

func (w *watches) Add(sig *clock.Signal) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sigs == nil {
		w.sigs = map[*clock.Signal]int{}
	}
	w.sigs[sig]++
	return sync.OnceFunc(func() { w.drop(sig) })
}

func (w *watches) drop(sig *clock.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sigs[sig]--; w.sigs[sig] == 0 {
		delete(w.sigs, sig)
	}
}

func (w *watches) set() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for sig := range w.sigs {
		sig.Set()
	}
}
