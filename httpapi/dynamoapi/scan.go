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

func (r *scan) field(d *wire.Decoder, name string) error {
	switch name {
	case "Segment":
		return d.Int(&r.segment)
	case "TotalSegments":
		return d.Int(&r.segments)
	}
	return r.reading.field(d, name)
}

func (r *scan) constrain(c *constraints) {
	r.constrainSelect(c)
	c.between("totalSegments", r.segments, 1, maxSegments)
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	c.between("segment", r.segment, 0, maxSegments-1)
	r.constrainLimit(c)
}

func (r *scan) touches(visit func(action, table string)) { visit("Scan", r.table.V) }

func (r *scan) run(c *call) error {
	expressions := []expression{{"ProjectionExpression", r.projection}, {"FilterExpression", r.filter}}
	if err := r.check(expressions); err != nil {
		return err
	}
	if err := r.checkStart(); err != nil {
		return err
	}
	if err := r.checkSegment(); err != nil {
		return err
	}
	params, err := r.bind(expressions...)
	if err != nil {
		return err
	}
	if err := r.checkConsistent(c); err != nil {
		return err
	}
	q := store.Scan{
		Table: tableName(r.table.V), Index: r.index.V, Filter: r.filter.V, Projection: r.projection.V, Params: params,
		Select: r.what(), Limit: r.limitOf(), StartKey: r.start.V, Segment: int(r.segment.V), TotalSegments: int(r.segments.V),
	}
	return r.page(c, func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error) { return tx.ScanEncoded(q, use) })
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
