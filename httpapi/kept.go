package httpapi

import "sync"

// maxKept is how many topics' pages, and how many topics' snapshots, are cached per application.
const maxKept = 64

// kept caches the latest T of each topic.
type kept[T any] struct {
	mu sync.Mutex
	of map[string]*T
}

// entry returns a topic's entry, zero at first. A full cache is emptied.
func (k *kept[T]) entry(topic string) *T {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.of[topic]
	if e == nil {
		if k.of == nil || len(k.of) >= maxKept {
			k.of = map[string]*T{}
		}
		e = new(T)
		k.of[topic] = e
	}
	return e
}

func (k *kept[T]) forget(topic string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, topic)
}

func (k *kept[T]) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.of)
}

func (k *kept[T]) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.of)
}
