package wire

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// reading is what Query and Scan have in common.
type reading struct {
	TableName            string
	IndexName            string
	FilterExpression     string
	ProjectionExpression string
	params
	Select            string
	Limit             int
	ExclusiveStartKey attr.Item
	ConsistentRead    bool // every read of the store is
}

// consistent refuses what cannot be had of a global index in the cloud, though here it could.
func (t *Target) consistent(r reading) error {
	if !r.ConsistentRead || r.IndexName == "" {
		return nil
	}
	d, err := t.s.Describe(r.TableName)
	if err != nil {
		return err
	}
	for _, ix := range d.Spec.Indexes {
		if ix.Name == r.IndexName && !ix.Local {
			return invalid("Consistent reads are not supported on global secondary indexes")
		}
	}
	return nil
}

func (r reading) what() (store.Select, error) {
	names := map[string]store.Select{
		"": store.SelectDefault, "ALL_ATTRIBUTES": store.SelectAll, "ALL_PROJECTED_ATTRIBUTES": store.SelectProjected,
		"SPECIFIC_ATTRIBUTES": store.SelectSpecific, "COUNT": store.SelectCount,
	}
	s, ok := names[r.Select]
	if !ok {
		return s, fmt.Errorf("%q is no Select", r.Select)
	}
	return s, nil
}

func (t *Target) query(ctx context.Context, request []byte) (any, error) {
	var r struct {
		reading
		KeyConditionExpression string
		ScanIndexForward       *bool
	}
	if err := read(request, &r); err != nil {
		return nil, err
	}
	what, err := r.what()
	if err != nil {
		return nil, err
	}
	if err := t.consistent(r.reading); err != nil {
		return nil, err
	}
	return t.page(ctx, r.Select, func(tx *store.Tx) (store.Page, error) {
		return tx.Query(store.Query{
			Table: r.TableName, Index: r.IndexName, KeyCondition: r.KeyConditionExpression, Filter: r.FilterExpression,
			Projection: r.ProjectionExpression, Params: r.params.params(), Select: what,
			Descending: r.ScanIndexForward != nil && !*r.ScanIndexForward, Limit: r.Limit, StartKey: r.ExclusiveStartKey,
		})
	})
}

func (t *Target) scan(ctx context.Context, request []byte) (any, error) {
	var r struct {
		reading
		Segment       *int
		TotalSegments *int
	}
	if err := read(request, &r); err != nil {
		return nil, err
	}
	what, err := r.what()
	if err != nil {
		return nil, err
	}
	segment, total := 0, 0
	switch {
	case r.Segment != nil && r.TotalSegments == nil:
		return nil, invalid("If segment is specified, total segment must also be specified")
	case r.Segment == nil && r.TotalSegments != nil:
		return nil, invalid("If total segments is specified, a particular segment must also be specified for this request")
	case r.Segment != nil:
		segment, total = *r.Segment, *r.TotalSegments
	}
	if err := t.consistent(r.reading); err != nil {
		return nil, err
	}
	return t.page(ctx, r.Select, func(tx *store.Tx) (store.Page, error) {
		return tx.Scan(store.Scan{
			Table: r.TableName, Index: r.IndexName, Filter: r.FilterExpression, Projection: r.ProjectionExpression,
			Params: r.params.params(), Select: what, Limit: r.Limit, StartKey: r.ExclusiveStartKey,
			Segment: segment, TotalSegments: total,
		})
	})
}

func (t *Target) page(ctx context.Context, selected string, read func(*store.Tx) (store.Page, error)) (any, error) {
	answer := map[string]any{}
	return answer, t.s.View(ctx, func(tx *store.Tx) error {
		p, err := read(tx)
		if err != nil {
			return err
		}
		answer["Count"], answer["ScannedCount"] = p.Count, p.Scanned
		if selected != "COUNT" {
			answer["Items"] = append([]attr.Item{}, p.Items...)
		}
		if p.LastKey != nil {
			answer["LastEvaluatedKey"] = p.LastKey
		}
		return nil
	})
}
