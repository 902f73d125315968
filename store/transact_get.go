package store

import (
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// TransactGet reads up to 100 items, of 4 MB in total, as of one instant. A result is nil if the item does not exist or is past its TTL.
// No item may be requested twice, as in DynamoDB.
//
// Every transaction of this store sees one instant: TransactGet is for callers that speak DynamoDB's protocol. Keys that do not fit their
// table are a TransactionCanceledError.
func (tx *Tx) TransactGet(items []GetItem) ([]attr.Item, error) {
	if err := tx.core.BeginCall(); err != nil {
		return nil, err
	}
	defer tx.core.EndCall()
	reads, err := tx.aimAll(items)
	if err != nil {
		return nil, err
	}
	out := make([]attr.Item, len(reads))
	bytes := 0
	for i := range reads {
		r, err := tx.visible(reads[i].table, reads[i].key)
		if err != nil {
			return nil, err
		}
		if bytes += r.Bytes(); bytes > maxTransactBytes {
			return nil, refusal.Invalid("Payload in response is too large.%d", bytes)
		}
		tx.markSeen(reads[i].table, reads[i].key)
		tx.touchRead(reads[i].table, r)
		if r == nil {
			continue
		}
		if out[i], err = projectRow(r, reads[i].bound.Projection); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// aimAll resolves the tables and keys of the reads.
func (tx *Tx) aimAll(items []GetItem) ([]write, error) {
	if err := refusal.Count(len(items), maxTransactItems, "TransactItems"); err != nil {
		return nil, err
	}
	reads := make([]write, len(items))
	for i, it := range items {
		bound, err := tx.s.exprs.Bind(expr.Request{Projection: it.Projection, Params: it.Params})
		if err != nil {
			return nil, err
		}
		reads[i] = write{op: opCheck, name: it.Table, subject: it.Key, bound: bound}
	}
	reasons := make(reasons, len(items))
	for i := range reads {
		if err := reads[i].find(tx); err != nil {
			return nil, err
		}
		if err := reads[i].table.CheckPaths(reads[i].bound.Projection.NestedNames()); err != nil {
			return nil, err
		}
		if err := reasons.setReason(i, reads[i].aim()); err != nil {
			return nil, err
		}
	}
	if twice(reads) {
		return nil, refusal.Invalid("Transaction request cannot include multiple operations on one item")
	}
	return reads, reasons.verdict(true)
}

// projectRow returns the item in a row, or what a projection shows of it.
func projectRow(r format.Row, p *expr.Projection) (attr.Item, error) {
	it, err := r.Decode()
	if err != nil || p == nil {
		return it, err
	}
	return p.Project(it), nil
}
