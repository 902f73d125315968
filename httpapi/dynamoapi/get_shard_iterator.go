package dynamoapi

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
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
	c.required("shardId", r.shard.Set)
	constrainShard(c, "shardId", r.shard)
	c.required("shardIteratorType", r.kind.Set)
	c.among("shardIteratorType", r.kind, "AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON", "AT_TIMESTAMP")
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
	after, err := r.after(c, st, seq)
	if err != nil {
		return err
	}
	c.out.NamedText("ShardIterator", shardIterator{
		stream: streamARN(st.Table, st.Label), after: after, made: c.api.cfg.Now(),
	}.String())
	return nil
}

// after returns the sequence after which to read.
func (r *getShardIterator) after(c *call, st store.TableStream, seq uint64) (uint64, error) {
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

// shardIterator is a position in a stream: the next record follows the sequence after. Its text form is
//
//	ARN of the stream|1|base64 of after, made (in milliseconds since 1970) and a checksum
//
// Clients must treat it as opaque.
type shardIterator struct {
	stream string // ARN
	after  uint64
	made   time.Time
}

const iteratorVersion = "1"

func (it shardIterator) String() string {
	b := binary.BigEndian.AppendUint64(nil, it.after)
	b = binary.BigEndian.AppendUint64(b, uint64(it.made.UnixMilli()))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(append([]byte(it.stream), b...)))
	return it.stream + "|" + iteratorVersion + "|" + base64.RawURLEncoding.EncodeToString(b)
}

func parseIterator(text string) (it shardIterator, ok bool) {
	parts := strings.Split(text, "|")
	if len(parts) != 3 || parts[1] != iteratorVersion {
		return it, false
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(b) != 20 {
		return it, false
	}
	sum := crc32.ChecksumIEEE(append([]byte(parts[0]), b[:16]...))
	if sum != binary.BigEndian.Uint32(b[16:]) {
		return it, false
	}
	return shardIterator{
		stream: parts[0], after: binary.BigEndian.Uint64(b), made: time.UnixMilli(int64(binary.BigEndian.Uint64(b[8:]))),
	}, true
}
