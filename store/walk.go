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

// maxSteps is how many hidden entries a page looks at, so that a walk over hidden items ends too.
const maxSteps = 10_000

// walk reads a range of keys of a table or an index, for Query and Scan.
type walk struct {
	tx    *Tx
	table *catalogue.Table
	index *catalogue.Index // nil: the table itself
	past  *past.Past       // earlier state of the index; nil: current

	keys *bolt.Bucket // the bucket being walked
	base *bolt.Bucket // the bucket with the items

	past.Range
	limit    int
	own      format.Row // the last row of the walk's own segment
	segment  uint32
	segments uint32 // 0: the walk is not divided
	single   bool   // at most one item matches, so there is no next page

	filter     *expr.Condition
	projection *expr.Projection
	few        []string // the attributes of the projection, if only a few
	narrow     bool     // only the attributes in the index are seen and returned
	fetches    bool     // attributes that a local index lacks are fetched from the table
	countOnly  bool
	use        func(attr.Encoded) error // receives the items; nil: they go into the page

	page   Page
	size   int // bytes counted towards maxPage
	before int // work spent before the walk
}

func (tx *Tx) newWalk(tableName, indexName string, limit int) (*walk, error) {
	if limit < 0 {
		return nil, refusal.Invalid("Limit must be greater than or equal to 1")
	}
	t, err := tx.table(tableName)
	if err != nil {
		return nil, err
	}
	w := &walk{tx: tx, table: t, limit: limit, before: tx.work.UnitsSpent()}
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
		w.past, err = past.Collect(tx.core, t, w.index, tx.indexesAsOf)
	}
	return w, err
}

// key returns the key attributes of the table or index being walked.
func (w *walk) key() *catalogue.Key {
	if w.index != nil {
		return &w.index.Key
	}
	return &w.table.Key
}

// lastKeyNames returns the names of the attributes in a LastKey.
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
	for seen, steps := 1, 0; k != nil && w.isInside(k); seen++ {
		if err := w.checkReader(seen); err != nil {
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

// checkReader returns an error if the reader has gone. It checks every 16th step.
func (w *walk) checkReader(steps int) error {
	const often = 16
	if w.tx.core.Reader == nil || steps%often != 0 || w.tx.core.Ctx.Err() == nil {
		return nil
	}
	return context.Cause(w.tx.core.Ctx)
}

// step processes one entry and reports whether the page ends with it.
func (w *walk) step(k, v []byte, last bool) (full bool, err error) {
	r, err := w.row(k, v)
	if err == nil {
		w.markSeen(k, v)
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

// first returns the first entry in the direction of the walk, and a function that returns the next.
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

// firstBelow returns the last entry below end (nil: the last of all) and a function that returns the previous one. It copes with pages
// that the transaction itself has emptied: Prev returns nil for such a page, and Last loops forever if there is no other.
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

func (w *walk) isInside(k []byte) bool {
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

// markSeen is Tx.markSeen for an entry of the walk. Damaged entries have already been refused. For an earlier state of an index nothing is listed:
// every item counts as seen.
func (w *walk) markSeen(k, v []byte) {
	switch {
	case w.tx.replicator == nil || !w.table.Sends:
		return
	case w.past != nil:
		w.tx.seen = seen{all: true}
		return
	case w.index != nil:
		k, _ = w.index.PrimaryOf(k, v)
	}
	w.tx.markSeen(w.table, k)
}

// visit adds a row to the page if it is visible, and reports whether the page is full.
func (w *walk) visit(r format.Row) (full bool, err error) {
	hidden, err := w.tx.hides(w.table, r)
	if err != nil || hidden {
		return false, err
	}
	w.page.Scanned++
	if err := w.tx.spendOnEntry(r.Size()); err != nil {
		return false, err
	}
	switch {
	case w.narrow:
		err = w.takeNarrow(r)
	case w.fetches:
		if err = w.countFetched(r); err == nil {
			err = w.visitRow(r)
		}
		// As documented by AWS: the index entries in total, and each item fetched from the table, in units of 4 KB.
		w.size = (w.page.Bytes+readUnit-1)/readUnit*readUnit + w.page.Fetched*readUnit
	default:
		w.size += r.Size()
		w.page.Bytes += r.Size()
		err = w.visitRow(r)
	}
	return w.size >= maxPage || w.limit != 0 && w.page.Scanned >= w.limit || w.tx.work.UnitsSpent()-w.before >= pageWork, err
}

// The cost of reading an entry, in units of expr.Work: entryWork, and one unit per entryBytes bytes.
const (
	entryWork  = 256
	entryBytes = 4
)

// readUnit is the size of a read capacity unit, in bytes.
const readUnit = 4 << 10

// countFetched counts an item that is read partly from the index and partly from the table.
func (w *walk) countFetched(r format.Row) error {
	it, err := w.decode(r)
	if err != nil {
		return err
	}
	w.page.Bytes += attr.Size(w.index.Project(w.table, it))
	w.page.Fetched += (r.Size() + readUnit - 1) / readUnit
	return nil
}

// decode decodes an item outside of the answer's own decoding, and charges the budget for it.
func (w *walk) decode(r format.Row) (attr.Item, error) {
	it, err := r.Decode()
	if err == nil {
		err = w.tx.spendOn(it, len(r))
	}
	return it, err
}

func (w *walk) visitRow(r format.Row) error {
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
	return w.yieldItem(it)
}

// giveFew returns a few attributes without decoding the others.
func (w *walk) giveFew(e attr.Encoded) error {
	it := make(attr.Item, len(w.few))
	for _, name := range w.few {
		v, ok, err := e.Get(name)
		if err != nil {
			return refusal.DamagedData(err, "an item cannot be decoded")
		}
		if ok {
			it[name] = v
		}
	}
	return w.yieldItem(it)
}

// takeNarrow is take for an index that does not project the whole item: filters do not see the rest either.
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
	return w.yieldItem(it)
}

func (w *walk) yieldItem(it attr.Item) error {
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
			return nil, refusal.DamagedData(err, "an item cannot be decoded")
		}
		out[name] = v
	}
	return out, nil
}
