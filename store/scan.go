package store

import (
	"bytes"
	"cmp"
	"hash/crc32"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
)

// maxSegments is DynamoDB's limit for a parallel scan.
const maxSegments = 1_000_000

// Scan reads a whole table or index, page by page, in key order. DynamoDB does not promise an order.
type Scan struct {
	Table      string
	Index      string
	Filter     string
	Projection string // the attributes to return; empty: Select decides
	expr.Params
	Select        Select
	Prefix        string    // reads only items whose string partition key begins with it; empty: all
	Limit         int       // number of items to read, before the filter; 0: as many as fit a page
	StartKey      attr.Item // LastKey of the previous page
	Segment       int       // this worker's part of a parallel scan: 0 to TotalSegments-1
	TotalSegments int       // 0: the scan is not divided
}

// Scan reads a page. Items past their TTL are left out and do not count towards the limit.
//
// Segments divide the items by a hash of the partition key, so each item is read by one worker whatever is written meanwhile. A worker
// steps over the items of the others: the workers share the cost of the filter, not of the walk.
func (tx *Tx) Scan(q Scan) (Page, error) { return tx.scan(q, nil) }

// ScanEncoded is to Scan what QueryEncoded is to Query.
func (tx *Tx) ScanEncoded(q Scan, use func(attr.Encoded) error) (Page, error) { return tx.scan(q, use) }

func (tx *Tx) scan(q Scan, use func(attr.Encoded) error) (Page, error) {
	if err := tx.core.BeginCall(); err != nil {
		return Page{}, err
	}
	defer tx.core.EndCall()
	if err := checkSegment(q.Segment, q.TotalSegments); err != nil {
		return Page{}, err
	}
	bound, err := tx.s.exprs.Bind(expr.Request{Filter: q.Filter, Projection: q.Projection, Params: q.Params, Work: tx.work})
	if err != nil {
		return Page{}, err
	}
	w, err := tx.newWalk(q.Table, q.Index, q.Limit)
	if err != nil {
		return Page{}, cmp.Or(checkSelect(q.Select, q.Index != "", bound.Projection != nil), err)
	}
	w.segment, w.segments, w.use = uint32(q.Segment), uint32(q.TotalSegments), use
	for _, check := range [...]func() error{
		func() error { return w.checkStart(q.StartKey, true) },
		func() error { return w.choose(q.Select, bound) },
		func() error { return w.startAt(q.StartKey) },
		func() error { return w.limitToPrefix(q.Prefix) },
		w.checkSegment,
		func() error { return w.table.CheckPaths(bound.Projection.NestedNames()) },
		func() error { return w.table.CheckPaths(bound.Filter.NestedNames()) },
	} {
		if err := check(); err != nil {
			return Page{}, err
		}
	}
	return w.run()
}

// limitToPrefix limits the walk to keys with a prefix, which DynamoDB cannot do.
func (w *walk) limitToPrefix(prefix string) (err error) {
	if prefix == "" {
		return nil
	}
	if w.key().Attrs[0].Kind != attr.KindS {
		return refusal.Invalid("The partition key of %s is not a string, so it cannot have a prefix", w.table.Spec.Name)
	}
	if w.Low, w.High, err = catalogue.PrefixRange(prefix); err != nil {
		return err
	}
	if w.Start != nil && (bytes.Compare(w.Start, w.Low) < 0 || !w.isInside(w.Start)) {
		return catalogue.ErrStartKey()
	}
	return nil
}

func checkSegment(segment, total int) error {
	divided := total != 0 || segment != 0
	if divided && (segment < 0 || segment >= total || total > maxSegments) {
		return refusal.Invalid("segment %d of %d: segments are numbered from 0, and there are at most %d", segment, total, maxSegments)
	}
	return nil
}

// mine reports whether a key belongs to the walk's segment.
func (w *walk) mine(k []byte) (bool, error) {
	if w.segments <= 1 {
		return true, nil
	}
	n, err := w.key().PartitionLen(k)
	if err != nil {
		return false, refusal.DamagedData(err, "a key cannot be decoded")
	}
	return crc32.ChecksumIEEE(k[:n])%w.segments == w.segment, nil
}

// passWork is the cost of stepping over an entry of another segment, in units of expr.Work.
const passWork = 64

// passOver steps over an entry of another segment. A page cannot resume at such an entry. So a page that has cost enough ends at the last
// entry of its own segment; without one, the walk continues until the budget of the request is spent.
func (w *walk) passOver() (full bool, err error) {
	if err := w.tx.work.Spend(passWork); err != nil {
		return false, err
	}
	if w.own == nil || w.tx.work.UnitsSpent()-w.before < pageWork {
		return false, nil
	}
	w.page.LastKey, err = w.lastKey(w.own)
	return true, err
}
