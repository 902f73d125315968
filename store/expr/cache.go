package expr

import (
	"strings"
	"sync"
)

// Cache keeps the parsed forms of texts, up to a limit; when it is full, it starts again. Its methods may be called from several
// goroutines at once. A nil Cache keeps nothing.
type Cache struct {
	limit int

	mu     sync.RWMutex
	byText map[cacheKey]*parsed
}

// cacheKey is a text and how it is parsed: the same text parses differently as an update and as a condition.
type cacheKey struct {
	grammar grammar
	text    string
	long    bool
}

// NewCache returns a cache of up to limit texts. A text and its parsed form take at most about 200 kB, usually 2 kB.
func NewCache(limit int) *Cache {
	return &Cache{limit: max(limit, 0), byText: map[cacheKey]*parsed{}}
}

// parse is the function parse with the cache. Refused texts are not cached: nobody sends them twice on purpose.
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
	// The parsed form refers to the text, which may be a substring of a whole request body.
	text = strings.Clone(text)
	p, err := parse(g, text, long)
	if err != nil {
		return nil, err
	}
	c.storeParsed(cacheKey{g, text, long}, p)
	return p, nil
}

func (c *Cache) find(key cacheKey) *parsed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byText[key]
}

func (c *Cache) storeParsed(key cacheKey, p *parsed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byText) >= c.limit {
		clear(c.byText)
	}
	c.byText[key] = p
}
