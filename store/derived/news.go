package derived

import (
	"sync"

	"github.com/touchline/touchline/internal/clock"
)

// News names units whose facts have changed outside of the store, such as in a feed that was read. The zero value is ready to use.
type News struct {
	mu      sync.Mutex
	units   []string
	watcher *clock.Signal
}

// Add names units and wakes whoever derives them.
func (n *News) Add(units ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.units = append(n.units, units...)
	if n.watcher != nil {
		n.watcher.Set()
	}
}

// Next returns the units that were added since it was last called. No News has none.
func (n *News) Next() []string {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	units := n.units
	n.units = nil
	return units
}

// Watch sets sig whenever units are added, until stop is called. There is one watcher.
func (n *News) Watch(sig *clock.Signal) (stop func()) {
	n.watch(sig)
	return func() { n.watch(nil) }
}

func (n *News) watch(sig *clock.Signal) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watcher = sig
}
