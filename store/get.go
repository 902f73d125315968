package store

import "github.com/touchline/touchline/store/attr"

// Get reads the item with the given key, which is the table's key attributes and nothing else. It gives nil if there
// is none, or if it is past its TTL.
func (tx *Tx) Get(table string, key attr.Item) (attr.Item, error) {
	if err := tx.enter(); err != nil {
		return nil, err
	}
	defer tx.leave()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	k, err := t.requestKey(key)
	if err != nil {
		return nil, err
	}
	r, err := tx.row(t, k)
	if err != nil || r == nil {
		return nil, err
	}
	if gone, err := t.expired(r.item(), tx.now); err != nil || gone {
		return nil, err
	}
	return r.decode()
}

// row fetches a row, nil if there is none.
func (tx *Tx) row(t *table, key []byte) (row, error) {
	bucket, err := tx.bucket(t.bucket)
	if err != nil {
		return nil, err
	}
	r := row(bucket.Get(key))
	if r == nil {
		return nil, nil
	}
	return r, r.check()
}
