package store

// balance is what a batch does to the spaces beside the tables, in bytes of keys and values.
type balance struct {
	added   int
	removed int
}

func (b *balance) set(key, value, old []byte) {
	b.added += len(value)
	if old == nil {
		b.added += len(key)
	}
	b.removed += len(old)
}

func (b *balance) remove(key, old []byte) { b.removed += len(key) + len(old) }
