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

func (r *listStreams) members(m *wire.Member) {
	m.Text("TableName", &r.table)
	m.Text("ExclusiveStartStreamArn", &r.after)
	m.Int("Limit", &r.limit)
}

func (r *listStreams) constrain(c *constraints) {
	if r.table.Set {
		c.table("tableName", r.table)
	}
	c.between("limit", r.limit, 1, maxStreams)
	constrainStreamARN(c, "exclusiveStartStreamArn", r.after)
}

func (r *listStreams) touches(operation string, visit func(action, table string)) {
	if r.table.Set {
		visit(operation, r.table.V)
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
	limit := maxStreams
	if r.limit.Set {
		limit = int(r.limit.V)
	}
	streams, more := r.page(c.api.store, after, limit)
	c.out.NamedArray("Streams")
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

// page lists streams behind one.
func (r *listStreams) page(s *store.Store, after store.TableStream, limit int) (streams []store.TableStream, more bool) {
	if !r.table.Set {
		return s.StreamsBehind(after.Table, after.Label, limit)
	}
	streams = slices.DeleteFunc(s.StreamsOf(tableName(r.table.V)), func(st store.TableStream) bool {
		return r.after.Set && cmp.Or(cmp.Compare(st.Table, after.Table), cmp.Compare(st.Label, after.Label)) <= 0
	})
	return streams[:min(limit, len(streams))], len(streams) > limit
}
