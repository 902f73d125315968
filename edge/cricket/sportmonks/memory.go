package sportmonks

import "sync"

// memories holds what is remembered of the last reply, by request. A reading takes its memory out and puts it back:
// a lock held over a reading would be held over a wait on the clock, which stands still for whoever waits for a
// lock. Two readings of the same request at once are correct; the second one just remembers nothing.
type memories struct {
	mu    sync.Mutex
	turn  uint64
	byKey map[string]*memory
}

// A memory of a Test with its balls is about a megabyte. More matches than this are not in play at once.
const maxMemories = 24

// take returns the memory of a request, a new one if there is none.
func (m *memories) take(key string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.byKey[key]
	if !ok {
		return &memory{}
	}
	delete(m.byKey, key)
	return found
}

// put keeps a memory and forgets the one that was used longest ago when there are too many.
func (m *memories) put(key string, kept *memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn++
	kept.used = m.turn
	m.byKey[key] = kept
	if len(m.byKey) <= maxMemories {
		return
	}
	oldest := key
	for k, other := range m.byKey {
		if other.used < m.byKey[oldest].used {
			oldest = k
		}
	}
	delete(m.byKey, oldest)
}

// bodies keeps one buffer between readings. A body is not needed once it is decoded, so that one after the other
// they share the same megabytes.
type bodies struct {
	mu    sync.Mutex
	spare []byte
}

func (p *bodies) take() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.spare
	p.spare = nil
	return b[:0]
}

func (p *bodies) put(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(b) > cap(p.spare) {
		p.spare = b
	}
}
