package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// getShardIterator gives a place in a stream from which to read.
type getShardIterator struct {
	arn      wire.Opt[string]
	shard    wire.Opt[string]
	kind     wire.Opt[string]
	sequence wire.Opt[string]
}

func (r *getShardIterator) field(d *wire.Decoder, name string) error {
	switch name {
	case "StreamArn":
		return d.OptText(&r.arn)
	case "ShardId":
		return d.OptText(&r.shard)
	case "ShardIteratorType":
		return d.OptText(&r.kind)
	case "SequenceNumber":
		return d.OptText(&r.sequence)
	}
	return d.Skip()
}

func (r *getShardIterator) constrain(c *constraints) {
	if c.required("streamArn", r.arn.Set) {
		constrainStreamARN(c, "streamArn", r.arn)
	}
	if c.required("shardId", r.shard.Set) {
		constrainShard(c, "shardId", r.shard)
	}
	if c.required("shardIteratorType", r.kind.Set) {
		c.among("shardIteratorType", r.kind, "AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON")
	}
	c.length("sequenceNumber", r.sequence, 21, 40)
}

func (r *getShardIterator) touches(visit func(action, table string)) {
	visit("GetShardIterator", r.arn.V)
}

func (r *getShardIterator) run(c *call) error {
	exact := r.kind.V == "AT_SEQUENCE_NUMBER" || r.kind.V == "AFTER_SEQUENCE_NUMBER"
	seq, ok := parseSequence(r.sequence.V)
	switch {
	case exact && !ok:
		return errWrong("Invalid SequenceNumber")
	case !exact && r.sequence.Set:
		return errWrong("SequenceNumber should not be passed for this iterator type")
	}
	st, err := c.stream(r.arn.V)
	if err != nil {
		return err
	}
	if r.shard.V != shardID(st) {
		return refuse(ofModel+"ResourceNotFoundException", "Requested resource not found: Shard %s in Stream %s not found", r.shard.V, r.arn.V)
	}
	after, err := r.after(c.api.store, st, seq)
	if err != nil {
		return err
	}
	c.out.NamedText("ShardIterator", shardIterator{
		stream: c.api.cfg.streamARN(st.Table, st.Label), after: after, made: c.api.cfg.Now(),
	}.String())
	return nil
}

// after is the sequence behind which to read.
func (r *getShardIterator) after(s *store.Store, st store.TableStream, seq uint64) (uint64, error) {
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
	case "AT_SEQUENCE_NUMBER":
		seq = max(seq, 1) - 1
	}
	switch {
	case seq < st.After || seq > last:
		return 0, errWrong("Invalid SequenceNumber") // none of this stream's
	case seq < oldest:
		return 0, errTrimmed()
	}
	return seq, nil
}
