package expr

// ParseKeyCondition parses a single KeyConditionExpression.
func ParseKeyCondition(text string, params Params, key *Key) (KeyRange, error) {
	if err := params.Check(); err != nil {
		return KeyRange{}, err
	}
	b := binder{params: params}
	c, err := b.condition(formKey, text)
	if err != nil {
		return KeyRange{}, err
	}
	return c.keyRange(key)
}

// Len returns the number of texts in the cache.
func (c *Cache) Len() int {
	if c == nil {
		return 0
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.byText)
}
