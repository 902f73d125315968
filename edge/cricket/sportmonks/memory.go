package sportmonks

import "sync"

// memories holds the memory of the last reply, by request. A reading takes its memory out and puts it back: a
// lock held during a reading would be held during a wait on the clock, which stands still for anyone who waits
// for a lock. Concurrent readings of the same request are correct; the second one just has no memory.
type memories struct {
	mu    sync.Mutex
	turn  uint64
	byKey map[string]*memory
}

// maxMemories bounds the memories: of a Test with balls it is about a megabyte. No more matches are in play at once.
const maxMemories = 24

// memoryOf returns the memory of a request, a new one if there is none.
func (m *memories) memoryOf(key string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.byKey[key]
	if !ok {
		return &memory{}
	}
	delete(m.byKey, key)
	return found
}

// put stores a memory, and evicts the least recently used one if there are too many.
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

// bodies keeps one buffer between readings: a body is not needed once it is decoded, so consecutive ones share the same megabytes.
type bodies struct {
	mu    sync.Mutex
	spare []byte
}

func (p *bodies) takeBuffer() []byte {
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
