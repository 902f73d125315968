package dynamoapi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// images returns what a record of a stream shows beside the key; nil: not that.
func images(view store.StreamView, r *store.Record) (now, old attr.Item) {
	if view == store.ViewNew || view == store.ViewBoth {
		now = r.New
	}
	if view == store.ViewOld || view == store.ViewBoth {
		old = r.Old
	}
	return now, old
}

// recordSize is the size of a record, as SizeBytes counts it.
func recordSize(view store.StreamView, r *store.Record) int {
	now, old := images(view, r)
	return attr.Size(r.Key) + attr.Size(now) + attr.Size(old)
}

// eventName is what a record says of the item: not what the request was called.
func eventName(r *store.Record) string {
	switch {
	case r.Old == nil:
		return "INSERT"
	case r.New == nil:
		return "REMOVE"
	}
	return "MODIFY"
}

// eventID is the same whenever the record is read.
func eventID(st store.TableStream, seq uint64) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(st.TableID+st.Label), seq))
	return hex.EncodeToString(sum[:16])
}

func (c *call) writeRecord(st store.TableStream, r *store.Record, size int) {
	out := c.out
	out.Begin()
	out.NamedText("eventID", eventID(st, r.Seq))
	out.NamedText("eventName", eventName(r))
	out.NamedText("eventVersion", "1.1")
	out.NamedText("eventSource", "aws:dynamodb")
	out.NamedText("awsRegion", c.api.cfg.Region)
	out.NamedObject("dynamodb")
	out.NamedFloat("ApproximateCreationDateTime", float64(r.At.Unix())) // to the second, as the service gives it
	named(out, "Keys", r.Key)
	now, old := images(st.View, r)
	if now != nil {
		named(out, "NewImage", now)
	}
	if old != nil {
		named(out, "OldImage", old)
	}
	out.NamedText("SequenceNumber", sequenceNumber(r.Seq))
	out.NamedInt("SizeBytes", int64(size))
	out.NamedText("StreamViewType", string(st.View))
	out.End()
	if r.Origin == store.OriginTTL {
		out.NamedObject("userIdentity")
		out.NamedText("PrincipalId", "dynamodb.amazonaws.com")
		out.NamedText("Type", "Service")
		out.End()
	}
	out.End()
}
