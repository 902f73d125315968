package dynamoapi

import (
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// getShardIterator returns a position in a stream from which to read.
type getShardIterator struct {
	ofStream
	shard    wire.Opt[string]
	kind     wire.Opt[string]
	sequence wire.Opt[string]
	at       wire.Opt[float64] // Timestamp, in seconds since 1970
}

func (r *getShardIterator) members(m *wire.Member) {
	m.Text("StreamArn", &r.arn)
	m.Text("ShardId", &r.shard)
	m.Text("ShardIteratorType", &r.kind)
	m.Text("SequenceNumber", &r.sequence)
	m.Float("Timestamp", &r.at)
}

func (r *getShardIterator) constrain(c *constraints) {
	r.constrainARN(c)
	c.require("shardId", r.shard.Set)
	constrainShard(c, "shardId", r.shard)
	c.require("shardIteratorType", r.kind.Set)
	c.requireOneOf("shardIteratorType", r.kind, "AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON", "AT_TIMESTAMP")
	c.length("sequenceNumber", r.sequence, 21, 40)
}

func (r *getShardIterator) run(c *call) error {
	exact := r.kind.V == "AT_SEQUENCE_NUMBER" || r.kind.V == "AFTER_SEQUENCE_NUMBER"
	seq, ok := parseSequence(r.sequence.V)
	switch {
	case exact && !ok:
		return errWrong("Invalid SequenceNumber")
	case !exact && r.sequence.Set:
		return errWrong("SequenceNumber should not be passed for this iterator type")
	case r.kind.V != "AT_TIMESTAMP" && r.at.Set:
		return errWrong("Timestamp should not be passed for this iterator type")
	case r.kind.V == "AT_TIMESTAMP" && !r.at.Set:
		return errWrong("Timestamp must be passed for iterator type AT_TIMESTAMP")
	case r.at.V > float64(c.api.cfg.Now().UnixMilli()+1)/1000:
		return errWrong("Timestamp must not be in the future")
	}
	st, err := c.stream(r.arn.V)
	if err != nil {
		return err
	}
	if r.shard.V != shardID(st) {
		return refuse(ofModel+"ResourceNotFoundException", "Requested resource not found: Shard %s in Stream %s not found", r.shard.V, r.arn.V)
	}
	after, err := r.startAfter(c, st, seq)
	if err != nil {
		return err
	}
	c.out.NamedText("ShardIterator", opaque(shardIterator{Stream: streamARN(st.Table, st.Label), After: after, Made: c.api.cfg.Now()}))
	return nil
}

// startAfter returns the sequence after which to read.
func (r *getShardIterator) startAfter(c *call, st store.TableStream, seq uint64) (uint64, error) {
	s := c.api.store
	last := s.Seq()
	if !st.Open() {
		last = st.Through
	}
	oldest := max(st.After, s.FirstSeq()-1)
	switch r.kind.V {
	case "TRIM_HORIZON":
		return oldest, nil
	case "LATEST":
		return last, nil
	case "AT_TIMESTAMP":
		after, err := s.JournalAt(c, time.UnixMilli(int64(max(r.at.V, 0)*1000)))
		return max(oldest, min(after, last)), err
	case "AT_SEQUENCE_NUMBER":
		if seq > st.After { // the shard starts there, before its first record
			seq--
		}
	}
	switch {
	case seq < st.After || seq > last:
		return 0, errWrong("Invalid SequenceNumber") // not a record of this stream
	case seq < oldest:
		return 0, errTrimmed()
	}
	return seq, nil
}

// iteratorAge is how long an iterator is valid.
const iteratorAge = 15 * time.Minute

// shardIterator is a position in a stream: the next record follows the sequence After.
type shardIterator struct {
	Stream string // ARN
	After  uint64
	Made   time.Time
}
