package store

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// maxPage is how much a page reads before it ends, in bytes as stored.
const maxPage = 1 << 20

// walk reads a range of the keys of a table or an index, for Query and Scan.
type walk struct {
	tx    *Tx
	table *table
	index *index // nil: the table itself

	keys *bolt.Bucket // what is walked
	base *bolt.Bucket // where the items are

	low, high  []byte // nil: from the first, to the last
	start      []byte // the key after which to go on, nil: none
	descending bool
	filter     *expr.Condition
	limit      int

	page Page
	read int // items
	size int // bytes
}

func (tx *Tx) newWalk(tableName, indexName string, limit int) (*walk, error) {
	t, err := tx.table(tableName)
	if err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, invalid("Limit must be greater than or equal to 1")
	}
	w := &walk{tx: tx, table: t, limit: limit}
	if w.base, err = tx.bucket(t.bucket); err != nil {
		return nil, err
	}
	w.keys = w.base
	if indexName == "" {
		return w, nil
	}
	if w.index, err = t.index(indexName); err != nil {
		return nil, err
	}
	w.keys, err = tx.bucket(w.index.bucket)
	return w, err
}

func (w *walk) keySpec() KeySpec {
	if w.index != nil {
		return w.index.spec.Key
	}
	return w.table.spec.Key
}

// startAt encodes the key to go on after. It must be one that a page may have ended with, inside the range.
func (w *walk) startAt(key attr.Item) error {
	if key == nil {
		return nil
	}
	primary := attr.Item{}
	for _, a := range w.table.spec.Key.attrs() {
		primary[a.Name] = key[a.Name]
	}
	start, err := w.table.requestKey(primary)
	if err != nil {
		return errStartKey()
	}
	if w.index != nil {
		if w.index.checkItem(key) != nil {
			return errStartKey()
		}
		if start, _, err = w.index.entryKey(itemDoc(key), start); err != nil || start == nil {
			return errStartKey()
		}
	}
	if len(key) != len(w.lastKeyNames()) {
		return errStartKey()
	}
	if bytes.Compare(start, w.low) < 0 || (w.high != nil && bytes.Compare(start, w.high) >= 0) {
		return invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	w.start = start
	return nil
}

func errStartKey() error { return invalid("The provided starting key is invalid") }

// lastKeyNames are the attributes of a LastKey.
func (w *walk) lastKeyNames() map[string]bool {
	names := map[string]bool{}
	for _, a := range w.table.spec.Key.attrs() {
		names[a.Name] = true
	}
	if w.index != nil {
		for _, a := range w.index.spec.Key.attrs() {
			names[a.Name] = true
		}
	}
	return names
}

func (w *walk) run() (Page, error) {
	step, k, v := w.first()
	for ; k != nil && w.inside(k); k, v = step() {
		r, err := w.row(k, v)
		if err != nil {
			return Page{}, err
		}
		w.size += len(k) + len(r)
		full, err := w.visit(r)
		if err != nil {
			return Page{}, err
		}
		if full {
			return w.page, nil
		}
	}
	return w.page, nil
}

// first gives the first entry in the direction of the walk, and how to get the next.
func (w *walk) first() (step func() (k, v []byte), k, v []byte) {
	c := w.keys.Cursor()
	if !w.descending {
		k, v = c.Seek(w.low)
		if w.start != nil {
			if k, v = c.Seek(w.start); bytes.Equal(k, w.start) {
				k, v = c.Next()
			}
		}
		return c.Next, k, v
	}
	end := w.high
	if w.start != nil {
		end = w.start
	}
	if end == nil {
		k, v = c.Last()
		return c.Prev, k, v
	}
	if k, _ = c.Seek(end); k == nil {
		k, v = c.Last()
	} else {
		k, v = c.Prev()
	}
	return c.Prev, k, v
}

func (w *walk) inside(k []byte) bool {
	if w.descending {
		return bytes.Compare(k, w.low) >= 0
	}
	return w.high == nil || bytes.Compare(k, w.high) < 0
}

func (w *walk) row(k, v []byte) (row, error) {
	if w.index != nil {
		return w.index.itemOf(w.base, k, v)
	}
	r := row(v)
	return r, r.check()
}

// visit takes a row into the page if it is to be shown, and tells whether the page is full.
func (w *walk) visit(r row) (full bool, err error) {
	gone, err := w.table.expired(r.item(), w.tx.now)
	if err != nil {
		return false, err
	}
	if !gone {
		if err := w.take(r); err != nil {
			return false, err
		}
		w.read++
	}
	if w.size < maxPage && (w.limit == 0 || w.read < w.limit) {
		return false, nil
	}
	w.page.LastKey, err = w.lastKey(r)
	return true, err
}

func (w *walk) take(r row) error {
	if w.index != nil && w.index.spec.Projection != ProjectAll {
		return w.takeProjected(r)
	}
	if ok, err := w.passes(r.item()); err != nil || !ok {
		return err
	}
	it, err := r.decode()
	if err != nil {
		return err
	}
	w.page.Items = append(w.page.Items, it)
	return nil
}

// takeProjected is take for an index that does not show the whole item: a filter does not see the rest either.
func (w *walk) takeProjected(r row) error {
	it, err := r.decode()
	if err != nil {
		return err
	}
	it = w.index.project(w.table, it)
	if ok, err := w.passes(itemDoc(it)); err != nil || !ok {
		return err
	}
	w.page.Items = append(w.page.Items, it)
	return nil
}

func (w *walk) passes(d doc) (bool, error) {
	if w.filter == nil {
		return true, nil
	}
	return w.filter.Match(d)
}

func (w *walk) lastKey(r row) (attr.Item, error) {
	out := attr.Item{}
	for name := range w.lastKeyNames() {
		v, _, err := r.item().Get(name)
		if err != nil {
			return nil, damaged(err, "an item cannot be decoded")
		}
		out[name] = v
	}
	return out, nil
}
