package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxSegments is how many workers may share a scan.
const maxSegments = 1_000_000

// scan reads a whole table or index, or a worker's part of it.
type scan struct {
	reading
	segment  wire.Opt[int64]
	segments wire.Opt[int64] // TotalSegments
}

func (r *scan) members(m *wire.Member) {
	m.Int("Segment", &r.segment)
	m.Int("TotalSegments", &r.segments)
	r.reading.members(m)
}

func (r *scan) constrain(c *constraints) {
	r.constrainSelect(c)
	c.between("totalSegments", r.segments, 1, maxSegments)
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	r.legacy.constrainOperator(c)
	constrainAll(c, "scanFilter", r.legacy.scanFilter.V)
	c.between("segment", r.segment, 0, maxSegments-1)
	r.legacy.constrainAttributes(c)
	r.constrainLimit(c)
}

func (r *scan) run(c *call) error {
	ask, err := r.asked()
	if err != nil {
		return err
	}
	if err := r.checkConsistent(c); err != nil {
		return err
	}
	q := store.Scan{
		Table: tableName(r.table.V), Index: r.index.V, Filter: ask.filter, Projection: ask.projection, Params: ask.params,
		Select: r.what(), Limit: int(r.limit.V), StartKey: r.start.V, Segment: int(r.segment.V), TotalSegments: int(r.segments.V),
	}
	err = r.page(c, func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error) { return tx.ScanEncoded(q, use) })
	return r.selectError(err, func(message string) error { return errValidation("%s", message) })
}

func (r *scan) asked() (texts, error) {
	expressions := []expression{{"ProjectionExpression", r.projection}, {"FilterExpression", r.filter}}
	return r.ask(expressions,
		func() error { return r.check(expressions, r.legacy.names(false)...) },
		r.legacy.checkOperator, r.legacy.checkAttributes, r.legacy.checkFilters, r.checkStart, r.checkSegment)
}

func (r *scan) checkSegment() error {
	switch {
	case r.segment.Set && !r.segments.Set:
		return errValidation("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case r.segments.Set && !r.segment.Set:
		return errValidation("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case r.segments.Set && r.segment.V >= r.segments.V:
		return errValidation("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", r.segment.V, r.segments.V)
	}
	return nil
}
