package dynamoapi

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"time"
)

// iteratorAge is how long an iterator can be used.
const iteratorAge = 15 * time.Minute

// shardIterator is a place in a stream: what comes next lies behind the sequence After. As text it is
//
//	ARN of the stream|1|base64 of after, made (in milliseconds since 1970) and a checksum
//
// which is nobody's business.
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
