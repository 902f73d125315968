package expr

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Cache keeps the parsed forms of the texts seen lately, a bounded number of them. Its methods may be called from
// several goroutines at once. A nil Cache keeps nothing.
type Cache struct {
	limit int

	mu     sync.RWMutex
	byText map[cacheKey]*cached
	ring   []*cached // in no order; hand goes round it looking for one that was not used since its last visit
	hand   int
}

// cacheKey is a text and how it is to be read: an update is no condition.
type cacheKey struct {
	grammar grammar
	text    string
	long    bool
}

type cached struct {
	key    cacheKey
	parsed *parsed
	used   atomic.Bool
}

// NewCache makes a cache of up to limit texts. A text and its parsed form take at most about 200 kB, usually 2 kB.
func NewCache(limit int) *Cache {
	return &Cache{limit: max(limit, 0), byText: make(map[cacheKey]*cached)}
}

// parse is parse with the cache. Texts that are refused are not kept: nobody sends them twice on purpose.
func (c *Cache) parse(g grammar, text string, long bool, work *Work) (*parsed, error) {
	if c != nil && len(text) <= maxText {
		if p := c.find(cacheKey{g, text, long}); p != nil {
			return p, nil
		}
	}
	if err := work.Spend(min(len(text), maxLongText) * perByte); err != nil {
		return nil, err
	}
	if c == nil || c.limit == 0 || len(text) > maxText {
		return parse(g, text, long)
	}
	// The parsed form shares the text, which may be a piece of a whole request body.
	text = strings.Clone(text)
	p, err := parse(g, text, long)
	if err != nil {
		return nil, err
	}
	c.keep(cacheKey{g, text, long}, p)
	return p, nil
}

func (c *Cache) find(key cacheKey) *parsed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e := c.byText[key]
	if e == nil {
		return nil
	}
	if !e.used.Load() { // a store into memory that every core reads is worth avoiding
		e.used.Store(true)
	}
	return e.parsed
}

func (c *Cache) keep(key cacheKey, p *parsed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText[key] != nil {
		return
	}
	e := &cached{key: key, parsed: p}
	if len(c.ring) < c.limit {
		c.ring = append(c.ring, e)
	} else {
		for c.ring[c.hand].used.Swap(false) {
			c.hand = (c.hand + 1) % len(c.ring)
		}
		delete(c.byText, c.ring[c.hand].key)
		c.ring[c.hand] = e
		c.hand = (c.hand + 1) % len(c.ring)
	}
	c.byText[key] = e
}
