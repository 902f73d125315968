package store

import (
	"bytes"
	"context"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/past"
	"github.com/touchline/touchline/store/internal/refusal"
)

// maxPage is how much a page reads before it ends, in bytes as attr.Size counts them.
const maxPage = 1 << 20

// maxSteps is how many entries that it does not show a page looks at, so that a walk over what is hidden ends too.
const maxSteps = 10_000

// walk reads a range of the keys of a table or an index, for Query and Scan.
type walk struct {
	tx    *Tx
	table *catalogue.Table
	index *catalogue.Index // nil: the table itself
	past  *past.Past       // of the index; nil: it is seen as it is

	keys *bolt.Bucket // what is walked
	base *bolt.Bucket // where the items are

	past.Range
	limit    int
	own      format.Row // the last one of the walk's segment
	segment  uint32
	segments uint32 // 0: all items are this walk's
	single   bool   // there is one item at most, and so no page behind it

	filter     *expr.Condition
	projection *expr.Projection
	few        []string // the projection, if it is no more than some attributes
	narrow     bool     // only what the index shows is seen and given
	fetches    bool     // what a local index does not show is fetched from the table
	countOnly  bool
	use        func(attr.Encoded) error // takes the items; nil: the page does

	page   Page
	size   int // bytes
	before int // work that was spent before the walk
}

func (tx *Tx) newWalk(tableName, indexName string, limit int) (*walk, error) {
	if limit < 0 {
		return nil, refusal.Invalid("Limit must be greater than or equal to 1")
	}
	t, err := tx.table(tableName)
	if err != nil {
		return nil, err
	}
	w := &walk{tx: tx, table: t, limit: limit, before: tx.work.Spent()}
	if w.base, err = tx.core.Bucket(t.Bucket); err != nil {
		return nil, err
	}
	w.keys = w.base
	if indexName == "" {
		return w, nil
	}
	if w.index, err = t.Index(indexName); err != nil {
		return nil, err
	}
	if w.keys, err = tx.core.Bucket(w.index.Bucket); err != nil {
		return nil, err
	}
	if !tx.indexesAsOf.IsZero() && !w.index.Spec.Local {
		w.past, err = past.Of(tx.core, t, w.index, tx.indexesAsOf)
	}
	return w, err
}

// key is that of what is walked.
func (w *walk) key() *catalogue.KeyAttrs {
	if w.index != nil {
		return &w.index.Key
	}
	return &w.table.Key
}

// lastKeyNames are the attributes of a LastKey.
func (w *walk) lastKeyNames() map[string]bool {
	names := map[string]bool{}
	for _, a := range w.table.Key.Attrs {
		names[a.Name] = true
	}
	if w.index != nil {
		for _, a := range w.index.Key.Attrs {
			names[a.Name] = true
		}
	}
	return names
}

func (w *walk) run() (Page, error) {
	next, k, v := w.first()
	if w.past != nil {
		next = w.past.Merge(w.Range, next, k, v)
		k, v = next()
	}
	for seen, steps := 1, 0; k != nil && w.inside(k); seen++ {
		if err := w.wanted(seen); err != nil {
			return Page{}, err
		}
		mine, err := w.mine(k)
		if err != nil {
			return Page{}, err
		}
		var full bool
		if mine {
			steps++
			full, err = w.step(k, v, steps-w.page.Scanned >= maxSteps)
		} else {
			full, err = w.passOver()
		}
		if err != nil {
			return Page{}, err
		}
		if full {
			break
		}
		k, v = next()
	}
	return w.page, nil
}

// wanted is the error of a reader who has gone.
func (w *walk) wanted(steps int) error {
	const often = 16
	if w.tx.core.Reader == nil || steps%often != 0 || w.tx.core.Ctx.Err() == nil {
		return nil
	}
	return context.Cause(w.tx.core.Ctx)
}

// step looks at one entry and reports whether the page ends with it.
func (w *walk) step(k, v []byte, last bool) (full bool, err error) {
	r, err := w.row(k, v)
	if err == nil {
		w.saw(k, v)
		w.own = r
		full, err = w.visit(r)
	}
	if err != nil || !full && !last {
		return false, err
	}
	if w.single {
		return true, nil
	}
	w.page.LastKey, err = w.lastKey(r)
	return true, err
}

// first returns the first entry in the direction of the walk, and how to get the next.
func (w *walk) first() (step func() (k, v []byte), k, v []byte) {
	c := w.keys.Cursor()
	if !w.Descending {
		k, v = c.Seek(w.Low)
		if w.Start != nil {
			if k, v = c.Seek(w.Start); bytes.Equal(k, w.Start) {
				k, v = c.Next()
			}
		}
		return c.Next, k, v
	}
	end := w.High
	if w.Start != nil {
		end = w.Start
	}
	return firstBelow(w.keys, end)
}

// firstBelow returns the last entry below end, nil: the last of all, and how to get the one before. It also stands pages
// that the transaction itself has emptied: Prev gives nil for such a page, and Last turns for ever where there is no other.
func firstBelow(b *bolt.Bucket, end []byte) (step func() (k, v []byte), k, v []byte) {
	c := b.Cursor()
	var at []byte
	step = func() (k, v []byte) {
		if k, v = c.Prev(); k == nil {
			for lowest, _ := b.Cursor().First(); k == nil && !bytes.Equal(at, lowest); {
				k, v = c.Prev()
			}
		}
		at = k
		return k, v
	}
	if end != nil {
		if at, _ = c.Seek(end); at != nil {
			k, v = step()
			return step, k, v
		}
	}
	if k, _ = c.First(); k != nil {
		k, v = c.Last()
		at = k
	}
	return step, k, v
}

func (w *walk) inside(k []byte) bool {
	if w.Descending {
		return bytes.Compare(k, w.Low) >= 0
	}
	return w.High == nil || bytes.Compare(k, w.High) < 0
}

func (w *walk) row(k, v []byte) (format.Row, error) {
	if r := w.past.Find(k); r != nil {
		return r, nil
	}
	if w.index != nil {
		return w.tx.core.ItemOf(w.table, w.index, w.base, k, v)
	}
	return w.tx.core.RowOf(w.table, k, v)
}

// saw is Tx.saw of an entry of what is walked. One that is damaged has been refused before; of an index as it was nobody
// lists the items.
func (w *walk) saw(k, v []byte) {
	switch {
	case w.tx.replicator == nil || !w.table.Sends:
		return
	case w.past != nil:
		w.tx.seen = seen{all: true}
		return
	case w.index != nil:
		k, _ = w.index.PrimaryOf(k, v)
	}
	w.tx.saw(w.table, k)
}

// visit takes a row into the page if it is to be shown, and reports whether the page is full.
func (w *walk) visit(r format.Row) (full bool, err error) {
	hidden, err := w.tx.hides(w.table, r)
	if err != nil || hidden {
		return false, err
	}
	w.page.Scanned++
	if err := w.tx.work.Spend(entryWork + r.Size()/entryBytes); err != nil {
		return false, err
	}
	switch {
	case w.narrow:
		err = w.takeNarrow(r)
	case w.fetches:
		if err = w.countFetched(r); err == nil {
			err = w.take(r)
		}
		// That is how the documentation counts: what the index shows in all, and each item of the table, in units of 4 KB.
		w.size = (w.page.Bytes+readUnit-1)/readUnit*readUnit + w.page.Fetched*readUnit
	default:
		w.size += r.Size()
		w.page.Bytes += r.Size()
		err = w.take(r)
	}
	return w.size >= maxPage || w.limit != 0 && w.page.Scanned >= w.limit || w.tx.work.Spent()-w.before >= pageWork, err
}

// What it costs to read an entry of a page, in units of expr.Work: itself, and a unit for so many bytes.
const (
	entryWork  = 256
	entryBytes = 4
)

// readUnit is how much a unit of read capacity reads, in bytes.
const readUnit = 4 << 10

// countFetched counts an item of which the index shows a part and the table the rest.
func (w *walk) countFetched(r format.Row) error {
	it, err := w.decode(r)
	if err != nil {
		return err
	}
	w.page.Bytes += attr.Size(w.index.Project(w.table, it))
	w.page.Fetched += (r.Size() + readUnit - 1) / readUnit
	return nil
}

// decode decodes what is not a part of the answer.
func (w *walk) decode(r format.Row) (attr.Item, error) {
	it, err := r.Decode()
	if err == nil {
		err = w.tx.spendOn(it, len(r))
	}
	return it, err
}

func (w *walk) take(r format.Row) error {
	if ok, err := w.passes(r.Item()); err != nil || !ok {
		return err
	}
	w.page.Count++
	switch {
	case w.countOnly:
		return nil
	case w.use != nil && w.projection == nil:
		return w.tx.core.Lend(r.Item(), w.use)
	}
	if w.few != nil {
		return w.giveFew(r.Item())
	}
	it, err := r.Decode()
	if err != nil {
		return err
	}
	if w.projection != nil {
		it = w.projection.Project(it)
	}
	return w.give(it)
}

// giveFew gives some attributes without decoding the others.
func (w *walk) giveFew(e attr.Encoded) error {
	it := make(attr.Item, len(w.few))
	for _, name := range w.few {
		v, ok, err := e.Get(name)
		if err != nil {
			return refusal.Damaged(err, "an item cannot be decoded")
		}
		if ok {
			it[name] = v
		}
	}
	return w.give(it)
}

// takeNarrow is take for an index that does not show the whole item: a filter does not see the rest either.
func (w *walk) takeNarrow(r format.Row) error {
	it, err := w.decode(r)
	if err != nil {
		return err
	}
	it = w.index.Project(w.table, it)
	size := attr.Size(it)
	w.size += size
	w.page.Bytes += size
	if ok, err := w.passes(expr.Item(it)); err != nil || !ok {
		return err
	}
	w.page.Count++
	if w.countOnly {
		return nil
	}
	if w.projection != nil {
		it = w.projection.Project(it)
	}
	return w.give(it)
}

func (w *walk) give(it attr.Item) error {
	if w.use != nil {
		return w.tx.core.Lend(attr.Encode(nil, it), w.use)
	}
	w.page.Items = append(w.page.Items, it)
	return nil
}

func (w *walk) passes(d expr.Doc) (bool, error) {
	if w.filter == nil {
		return true, nil
	}
	return w.filter.MatchWithin(d, w.tx.work)
}

func (w *walk) lastKey(r format.Row) (attr.Item, error) {
	out := attr.Item{}
	for name := range w.lastKeyNames() {
		v, _, err := r.Item().Get(name)
		if err != nil {
			return nil, refusal.Damaged(err, "an item cannot be decoded")
		}
		out[name] = v
	}
	return out, nil
}
