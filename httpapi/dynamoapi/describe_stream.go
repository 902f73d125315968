package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// describeStream tells of a stream and its shard.
type describeStream struct {
	arn    wire.Opt[string]
	after  wire.Opt[string] // ExclusiveStartShardId
	limit  wire.Opt[int64]
	filter bool // ShardFilter asks for the children of a shard: there are none
}

func (r *describeStream) field(d *wire.Decoder, name string) error {
	switch name {
	case "StreamArn":
		return d.OptText(&r.arn)
	case "ExclusiveStartShardId":
		return d.OptText(&r.after)
	case "Limit":
		return d.Int(&r.limit)
	case "ShardFilter":
		r.filter = true
	}
	return d.Skip()
}

func (r *describeStream) constrain(c *constraints) {
	if c.required("streamArn", r.arn.Set) {
		constrainStreamARN(c, "streamArn", r.arn)
	}
	c.between("limit", r.limit, 1, maxStreams)
	constrainShard(c, "exclusiveStartShardId", r.after)
}

func (r *describeStream) touches(visit func(action, table string)) { visit("DescribeStream", r.arn.V) }

func (r *describeStream) run(c *call) error {
	st, err := c.stream(r.arn.V)
	if err != nil {
		return err
	}
	out := c.out
	out.Name("StreamDescription")
	out.Begin()
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
	writeKey(out, st.Key)
	out.Name("Shards")
	out.BeginArray()
	if !r.filter && (!r.after.Set || r.after.V < shardID(st)) {
		writeShard(out, st)
	}
	out.EndArray()
	out.End()
	return nil
}

func writeShard(out *wire.Encoder, st store.TableStream) {
	out.Begin()
	out.NamedText("ShardId", shardID(st))
	out.Name("SequenceNumberRange")
	out.Begin()
	out.NamedText("StartingSequenceNumber", sequenceNumber(st.After+1))
	if !st.Open() {
		out.NamedText("EndingSequenceNumber", sequenceNumber(max(st.After+1, st.Through)))
	}
	out.End()
	out.End()
}
