package dynamoapi

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// maxStreams is how many streams, or shards of one, an answer has.
const maxStreams = 100

// listStreams lists streams, by table and age: those that go on and those that ended less than a day ago.
type listStreams struct {
	table wire.Opt[string]
	after wire.Opt[string] // ExclusiveStartStreamArn; it need not be there
	limit wire.Opt[int64]
}

func (r *listStreams) field(d *wire.Decoder, name string) error {
	switch name {
	case "TableName":
		return d.OptText(&r.table)
	case "ExclusiveStartStreamArn":
		return d.OptText(&r.after)
	case "Limit":
		return d.Int(&r.limit)
	}
	return d.Skip()
}

func (r *listStreams) constrain(c *constraints) {
	if r.table.Set {
		c.table("tableName", r.table)
	}
	c.between("limit", r.limit, 1, maxStreams)
	constrainStreamARN(c, "exclusiveStartStreamArn", r.after)
}

func (r *listStreams) touches(visit func(action, table string)) {
	if r.table.Set {
		visit("ListStreams", r.table.V)
	}
}

func (r *listStreams) run(c *call) error {
	var after store.TableStream
	if r.after.Set {
		var ok bool
		if after.Table, after.Label, ok = streamOfARN(r.after.V); !ok {
			return errValidation("Invalid StreamArn")
		}
	}
	byName := func(a, b store.TableStream) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Label, b.Label))
	}
	streams := slices.DeleteFunc(c.api.store.Streams(), func(st store.TableStream) bool {
		return r.table.Set && st.Table != tableName(r.table.V) || r.after.Set && byName(st, after) <= 0
	})
	slices.SortFunc(streams, byName)
	limit := maxStreams
	if r.limit.Set {
		limit = int(r.limit.V)
	}
	more := len(streams) > limit
	streams = streams[:min(limit, len(streams))]
	c.out.Name("Streams")
	c.out.BeginArray()
	arn := ""
	for _, st := range streams {
		arn = c.api.cfg.streamARN(st.Table, st.Label)
		c.out.Begin()
		c.out.NamedText("StreamArn", arn)
		c.out.NamedText("TableName", st.Table)
		c.out.NamedText("StreamLabel", st.Label)
		c.out.End()
	}
	c.out.EndArray()
	if more {
		c.out.NamedText("LastEvaluatedStreamArn", arn)
	}
	return nil
}
