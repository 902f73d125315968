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

// Scan reads a whole table or index, page by page. The order is that of the keys, which DynamoDB does not promise.
type Scan struct {
	Table      string
	Index      string
	Filter     string
	Projection string // the parts of the items that are given; empty: as Select says
	expr.Params
	Select        Select
	Prefix        string    // of the partition key, a string: only the range of keys that begin with it is read; empty: all
	Limit         int       // of items read, before the filter; 0: as many as fit a page
	StartKey      attr.Item // LastKey of the page before
	Segment       int       // this worker's part of a scan by several: 0 to TotalSegments-1
	TotalSegments int       // 0: the scan is not divided
}

// Scan reads a page. Items past their TTL are left out, and do not count for the limit.
//
// Segments divide the items by a hash of the partition key, so that each is read by one worker whatever is written
// meanwhile. A worker steps over the items of the others: the work of the filter is what is shared.
func (tx *Tx) Scan(q Scan) (Page, error) { return tx.scan(q, nil) }

// ScanEncoded is to Scan what QueryEncoded is to Query.
func (tx *Tx) ScanEncoded(q Scan, use func(attr.Encoded) error) (Page, error) { return tx.scan(q, use) }

func (tx *Tx) scan(q Scan, use func(attr.Encoded) error) (Page, error) {
	if err := tx.core.Enter(); err != nil {
		return Page{}, err
	}
	defer tx.core.Leave()
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
		func() error { return w.within(q.Prefix) },
		w.checkSegment,
		func() error { return w.table.CheckPaths(bound.Projection.Nested()) },
		func() error { return w.table.CheckPaths(bound.Filter.Nested()) },
	} {
		if err := check(); err != nil {
			return Page{}, err
		}
	}
	return w.run()
}

// within bounds the walk to the keys that begin with a prefix, which DynamoDB cannot.
func (w *walk) within(prefix string) (err error) {
	if prefix == "" {
		return nil
	}
	if w.key().Attrs[0].Type != KeyString {
		return refusal.Invalid("The partition key of %s is no string, and has no prefix", w.table.Spec.Name)
	}
	if w.Low, w.High, err = catalogue.Prefixed(prefix); err != nil {
		return err
	}
	if w.Start != nil && (bytes.Compare(w.Start, w.Low) < 0 || !w.inside(w.Start)) {
		return catalogue.ErrStartKey()
	}
	return nil
}

func checkSegment(segment, total int) error {
	switch {
	case total == 0 && segment == 0:
		return nil
	case total < 0 || total > maxSegments:
		return refusal.Invalid("TotalSegments must be between 1 and %d", maxSegments)
	case segment < 0 || segment >= total:
		return refusal.Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", segment, total)
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
		return false, refusal.Damaged(err, "a key cannot be decoded")
	}
	return crc32.ChecksumIEEE(k[:n])%w.segments == w.segment, nil
}

// passWork is what it costs to step over an entry of another segment, in units of expr.Work.
const passWork = 64

// passOver steps over an entry of another segment. It is none to go on after: a page that has cost enough ends with the last
// one of its own, and where there is none the walk goes on until the budget of the request is spent.
func (w *walk) passOver() (full bool, err error) {
	if err := w.tx.work.Spend(passWork); err != nil {
		return false, err
	}
	if w.own == nil || w.tx.work.Spent()-w.before < pageWork {
		return false, nil
	}
	w.page.LastKey, err = w.lastKey(w.own)
	return true, err
}
