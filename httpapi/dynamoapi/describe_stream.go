package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// describeStream describes a stream and its shard.
type describeStream struct {
	arn    wire.Opt[string]
	after  wire.Opt[string] // ExclusiveStartShardId
	limit  wire.Opt[int64]
	filter wire.Opt[shardFilter]
}

// shardFilter is ShardFilter: the shards that a client wants to know of.
type shardFilter struct {
	kind, shard wire.Opt[string]
}

func (r *describeStream) members(m *wire.Member) {
	m.Text("StreamArn", &r.arn)
	m.Text("ExclusiveStartShardId", &r.after)
	m.Int("Limit", &r.limit)
	wire.Object(m, "ShardFilter", "ShardFilter", &r.filter, (*shardFilter).members)
}

func (f *shardFilter) members(m *wire.Member) {
	m.Text("Type", &f.kind)
	m.Text("ShardId", &f.shard)
}

func (r *describeStream) constrain(c *constraints) {
	c.required("streamArn", r.arn.Set)
	constrainStreamARN(c, "streamArn", r.arn)
	c.between("limit", r.limit, 1, maxStreams)
	constrainShard(c, "exclusiveStartShardId", r.after)
	c.among("shardFilter.type", r.filter.V.kind, "CHILD_SHARDS")
	constrainShard(c, "shardFilter.shardId", r.filter.V.shard)
}

func (r *describeStream) touches(operation string, visit func(action, table string)) {
	visit(operation, r.arn.V)
}

func (r *describeStream) run(c *call) error {
	if err := r.filter.V.check(r.filter.Set); err != nil {
		return err
	}
	st, err := c.stream(r.arn.V)
	if err != nil {
		return err
	}
	out := c.out
	out.NamedObject("StreamDescription")
	out.NamedText("StreamArn", c.api.cfg.streamARN(st.Table, st.Label))
	out.NamedText("StreamLabel", st.Label)
	status := "ENABLED"
	if !st.Open() {
		status = "DISABLED"
	}
	out.NamedText("StreamStatus", status)
	out.NamedText("StreamViewType", string(st.View))
	writeTime(out, "CreationRequestDateTime", st.Began)
	out.NamedText("TableName", st.Table)
	writeKey(out, &st.Key)
	out.NamedArray("Shards")
	if !r.filter.Set && (!r.after.Set || r.after.V < shardID(st)) { // the one shard is nobody's child
		writeShard(out, st)
	}
	out.EndArray()
	out.End()
	return nil
}

// check refuses a filter that does not say whose children it means.
func (f shardFilter) check(given bool) error {
	switch {
	case given && !f.kind.Set:
		return errWrong("ShardFilter must have a Type")
	case given && !f.shard.Set:
		return errWrong("ShardFilter of Type CHILD_SHARDS must have the ShardId of the parent shard")
	}
	return nil
}

// writeShard writes a stream's shard. It begins before its first record, so that a reader who goes on behind the beginning
// misses nothing.
func writeShard(out *wire.Encoder, st store.TableStream) {
	out.Begin()
	out.NamedText("ShardId", shardID(st))
	out.NamedObject("SequenceNumberRange")
	out.NamedText("StartingSequenceNumber", sequenceNumber(st.After))
	if !st.Open() {
		out.NamedText("EndingSequenceNumber", sequenceNumber(max(st.After, st.Through)))
	}
	out.End()
	out.End()
}
