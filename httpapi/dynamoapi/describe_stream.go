package dynamoapi

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// maxStreams is the maximum number of streams, or of a stream's shards, in an answer.
const maxStreams = 100

// listStreams lists streams by table and age: current ones, and those that ended less than a day ago.
type listStreams struct {
	table wire.Opt[string]
	after wire.Opt[string] // ExclusiveStartStreamArn; need not exist
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
	c.requireBetween("limit", r.limit, 1, maxStreams)
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
		arn = streamARN(st.Table, st.Label)
		c.out.TextObject("StreamArn", arn, "TableName", st.Table, "StreamLabel", st.Label)
	}
	c.out.EndArray()
	if more {
		c.out.NamedText("LastEvaluatedStreamArn", arn)
	}
	return nil
}

// page returns the streams after a given one.
func (r *listStreams) page(s *store.Store, after store.TableStream, limit int) (streams []store.TableStream, more bool) {
	if !r.table.Set {
		return s.StreamsBehind(after.Table, after.Label, limit)
	}
	streams = slices.DeleteFunc(s.StreamsOf(tableName(r.table.V)), func(st store.TableStream) bool {
		return r.after.Set && cmp.Or(cmp.Compare(st.Table, after.Table), cmp.Compare(st.Label, after.Label)) <= 0
	})
	return streams[:min(limit, len(streams))], len(streams) > limit
}

// ofStream is the StreamArn of a request about a stream.
type ofStream struct{ arn wire.Opt[string] }

func (r *ofStream) touches(operation string, visit func(action, table string)) {
	visit(operation, r.arn.V)
}

func (r *ofStream) constrainARN(c *constraints) {
	c.require("streamArn", r.arn.Set)
	constrainStreamARN(c, "streamArn", r.arn)
}

// describeStream describes a stream and its shard.
type describeStream struct {
	ofStream
	after  wire.Opt[string] // ExclusiveStartShardId
	limit  wire.Opt[int64]
	filter wire.Opt[shardFilter]
}

// shardFilter is ShardFilter: which shards the client wants.
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
	r.constrainARN(c)
	c.requireBetween("limit", r.limit, 1, maxStreams)
	constrainShard(c, "exclusiveStartShardId", r.after)
	c.requireOneOf("shardFilter.type", r.filter.V.kind, "CHILD_SHARDS")
	constrainShard(c, "shardFilter.shardId", r.filter.V.shard)
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
	out.NamedText("StreamArn", streamARN(st.Table, st.Label))
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
	if !r.filter.Set && (!r.after.Set || r.after.V < shardID(st)) { // the only shard is no shard's child
		writeShard(out, st)
	}
	out.EndArray()
	out.End()
	return nil
}

// check refuses a filter that does not name the parent shard.
func (f shardFilter) check(given bool) error {
	switch {
	case given && !f.kind.Set:
		return errWrong("ShardFilter must have a Type")
	case given && !f.shard.Set:
		return errWrong("ShardFilter of Type CHILD_SHARDS must have the ShardId of the parent shard")
	}
	return nil
}

// writeShard writes a stream's shard. It starts before the first record, so that a reader that starts after its beginning misses
// nothing.
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

// A stream has one shard from its start to its end: the journal is one sequence, which continues after a restart. So there are no
// parents and children, and a reader is done when the shard has ended and everything was read.

// stream finds a stream by its ARN. A stream can be read for a day after it ended or its table was deleted.
func (c *call) stream(arn string) (store.TableStream, error) {
	return streamAmong(arn, func(table string) ([]store.TableStream, error) { return c.api.store.StreamsOf(table), nil })
}

func streamAmong(arn string, of func(table string) ([]store.TableStream, error)) (store.TableStream, error) {
	table, label, ok := streamOfARN(arn)
	if !ok {
		return store.TableStream{}, errValidation("Invalid StreamArn")
	}
	streams, err := of(table)
	if err != nil {
		return store.TableStream{}, err
	}
	for _, st := range streams {
		if st.Label == label {
			return st, nil
		}
	}
	return store.TableStream{}, refuse(ofModel+"ResourceNotFoundException", "Requested resource not found: Stream: %s not found", arn)
}

// constrainStreamARN is the rule for a stream's ARN.
func constrainStreamARN(c *constraints, at string, v wire.Opt[string]) { c.length(at, v, 37, 1024) }

func constrainShard(c *constraints, at string, v wire.Opt[string]) { c.length(at, v, 28, 65) }

// shardID returns the name of a stream's shard: its start in milliseconds, and eight hexadecimal digits.
func shardID(st store.TableStream) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(st.TableID + st.Label)) // never fails
	return fmt.Sprintf("shardId-%020d-%08x", st.Began.UnixMilli(), h.Sum32())
}

// sequenceNumber formats a journal sequence as a number of 21 digits, so that numeric and text order agree, across restarts too.
func sequenceNumber(seq uint64) string { return fmt.Sprintf("1%020d", seq) }

func parseSequence(text string) (seq uint64, ok bool) {
	digits, ok := strings.CutPrefix(text, "1")
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil
}

func errTrimmed() error {
	return refuse(ofModel+"TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard")
}
