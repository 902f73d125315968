package dynamoapi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Limits of an answer of GetRecords, and of the work for it.
const (
	maxRecords     = 1000
	maxRecordBytes = 1 << 20
	maxRecordLook  = 50_000 // journal records read, whatever their table; takes a few milliseconds
)

// getRecords reads a stream. An answer without records does not mean that the stream has no more: the work per request is bounded.
type getRecords struct {
	iterator wire.Opt[string]
	limit    wire.Opt[int64]
}

func (r *getRecords) members(m *wire.Member) {
	m.Text("ShardIterator", &r.iterator)
	m.Int("Limit", &r.limit)
}

func (r *getRecords) constrain(c *constraints) {
	c.requireBetween("limit", r.limit, 1, 1<<63-1)
	c.require("shardIterator", r.iterator.Set)
	c.length("shardIterator", r.iterator, 1, 2048)
}

func (r *getRecords) touches(operation string, visit func(action, table string)) {
	var it shardIterator
	fromOpaque(r.iterator.V, &it)
	visit(operation, it.Stream)
}

func (r *getRecords) run(c *call) error {
	limit := maxRecords
	if r.limit.Set {
		if r.limit.V > maxRecords {
			return errWrong("Limit should be less than or equal to %d", maxRecords)
		}
		limit = int(r.limit.V)
	}
	var it shardIterator
	if !fromOpaque(r.iterator.V, &it) {
		return errValidation("Invalid ShardIterator")
	}
	now := c.api.cfg.Now()
	if now.Sub(it.Made) > iteratorAge {
		return refuse(ofModel+"ExpiredIteratorException", "Iterator expired. It was made at %s and can be used for %s",
			it.Made.UTC().Format("2006-01-02T15:04:05Z"), iteratorAge)
	}
	st, page, err := c.readStream(it, limit)
	if err != nil {
		return err
	}
	came := c.writeRecords(st, page)
	if st.Open() || came < st.Through {
		c.out.NamedText("NextShardIterator", opaque(shardIterator{Stream: it.Stream, After: came, Made: now}))
	}
	return nil
}

// readStream finds an iterator's stream and reads from it in one snapshot, so that nothing written after the stream ended is shown.
func (c *call) readStream(it shardIterator, limit int) (st store.TableStream, page store.JournalPage, err error) {
	err = c.api.store.View(c, func(tx *store.Tx) error {
		if st, err = streamAmong(it.Stream, tx.StreamsOf); err != nil {
			return err
		}
		page.Came = it.After
		if !st.Open() && it.After >= st.Through {
			return nil
		}
		page, err = tx.JournalOf(store.JournalQuery{
			TableID: st.TableID, After: it.After, Through: st.Through, Limit: limit, Bytes: maxRecordBytes, Look: maxRecordLook,
		})
		if err == nil && it.After+1 < page.First {
			err = errTrimmed()
		}
		return err
	})
	return st, page, err
}

// writeRecords writes as many of a page's records as fit into an answer, at least one, and returns the last sequence it covered.
func (c *call) writeRecords(st store.TableStream, page store.JournalPage) (came uint64) {
	c.out.NamedArray("Records")
	defer c.out.EndArray()
	size := 0
	for i := range page.Records {
		r := &page.Records[i]
		if r.Old != nil && r.New != nil && attr.EqualItems(r.Old, r.New) {
			continue // a write that changed nothing
		}
		n := recordSize(st.View, r)
		if size > 0 && size+n > maxRecordBytes {
			return r.Seq - 1
		}
		size += n
		c.writeRecord(st, r, n)
	}
	return page.Came
}

// images returns the images that a stream record shows; nil: not shown.
func images(view store.StreamView, r *store.Record) (now, old attr.Item) {
	if view == store.ViewNew || view == store.ViewBoth {
		now = r.New
	}
	if view == store.ViewOld || view == store.ViewBoth {
		old = r.Old
	}
	return now, old
}

// recordSize returns the size of a record, as in SizeBytes.
func recordSize(view store.StreamView, r *store.Record) int {
	now, old := images(view, r)
	return attr.Size(r.Key) + attr.Size(now) + attr.Size(old)
}

// eventName returns what happened to the item, whatever operation did it.
func eventName(r *store.Record) string {
	switch {
	case r.Old == nil:
		return "INSERT"
	case r.New == nil:
		return "REMOVE"
	}
	return "MODIFY"
}

// eventID returns an id that is the same at each read of a record.
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
	out.NamedText("awsRegion", region)
	out.NamedObject("dynamodb")
	out.NamedFloat("ApproximateCreationDateTime", float64(r.At.Unix())) // in whole seconds, like the service
	writeItem(out, "Keys", r.Key)
	now, old := images(st.View, r)
	if now != nil {
		writeItem(out, "NewImage", now)
	}
	if old != nil {
		writeItem(out, "OldImage", old)
	}
	out.NamedText("SequenceNumber", sequenceNumber(r.Seq))
	out.NamedInt("SizeBytes", int64(size))
	out.NamedText("StreamViewType", string(st.View))
	out.End()
	if r.Origin == store.OriginTTL {
		out.Name("userIdentity")
		out.TextObject("PrincipalId", "dynamodb.amazonaws.com", "Type", "Service")
	}
	out.End()
}
