package dynamoapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxBatchWrites is how many items a BatchWriteItem may write.
const maxBatchWrites = 25

// batchWriteItem puts and deletes items, in any tables.
type batchWriteItem struct {
	tables   wire.Opt[map[string][]batchWrite]
	capacity wire.Opt[string]
	metrics  wire.Opt[string] // ReturnItemCollectionMetrics
}

// batchWrite is one request of a batch.
type batchWrite struct {
	put, delete bool
	item        wire.Item // of the put
	key         wire.Item // of the delete
}

func (r *batchWriteItem) field(d *wire.Decoder, name string) error {
	switch name {
	case "RequestItems":
		r.tables.Set, r.tables.V = true, map[string][]batchWrite{}
		return d.MapUpTo(maxBatchWrites, "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>", func(table string) error {
			r.tables.V[table] = nil
			return d.ArrayUpTo(maxBatchWrites, func(int) error {
				var w batchWrite
				err := d.Object("WriteRequest", func(name string) error { return w.field(d, name) })
				r.tables.V[table] = append(r.tables.V[table], w)
				return err
			})
		})
	case "ReturnConsumedCapacity":
		return d.OptText(&r.capacity)
	case "ReturnItemCollectionMetrics":
		return d.OptText(&r.metrics)
	}
	return d.Skip()
}

func (w *batchWrite) field(d *wire.Decoder, name string) error {
	one := func(member string, into *wire.Item) error {
		return d.Field(name, func(name string) error {
			if name != member {
				return d.Skip()
			}
			return d.Item(into)
		})
	}
	switch name {
	case "PutRequest":
		w.put = true
		return one("Item", &w.item)
	case "DeleteRequest":
		w.delete = true
		return one("Key", &w.key)
	}
	return d.Skip()
}

func (r *batchWriteItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.returnItemCollectionMetrics(r.metrics)
	if !c.required("requestItems", r.tables.Set) {
		return
	}
	names := constrainTables(c, r.tables.V, maxBatchWrites, r.shown)
	for _, table := range names {
		if n := len(r.tables.V[table]); !c.full() && (n < 1 || n > maxBatchWrites) {
			c.fail("requestItems", r.shown(), "Map value must satisfy constraint: [Member must have length less than or equal to %d, "+
				"Member must have length greater than or equal to 1]", maxBatchWrites)
		}
	}
	for _, table := range names {
		for i, w := range r.tables.V[table] {
			at := fmt.Sprintf("requestItems.%s.member.%d.member", table, i+1)
			if w.delete {
				c.required(at+".deleteRequest.key", w.key.Set)
			}
			if w.put {
				c.required(at+".putRequest.item", w.item.Set)
			}
		}
	}
}

// shown is the value of RequestItems as errors show it: without the items.
func (r *batchWriteItem) shown() string {
	return showTables(r.tables.V, func(w []batchWrite) int { return len(w) }, "requests")
}

func (r *batchWriteItem) touches(visit func(action, table string)) {
	for table := range r.tables.V {
		visit("BatchWriteItem", table)
	}
}

func (r *batchWriteItem) run(c *call) error {
	if len(r.tables.V) == 0 {
		return errNoRequests("BatchWriteItem")
	}
	batch, err := r.batch()
	if err != nil {
		return err
	}
	left := divide(batch, c.fault.Unprocessed)
	l := newLedger(r.capacity, r.metrics)
	for _, table := range slices.Sorted(maps.Keys(batch)) {
		for _, w := range batch[table] {
			if w.Put != nil {
				l.add(c, table, w.Put)
			} else {
				l.add(c, table, w.Delete)
			}
		}
	}
	if len(batch) > 0 {
		err = c.update(false, func(tx *store.Tx) error {
			l.watch(tx, false)
			return tx.BatchWrite(batch)
		})
	}
	if err != nil {
		return err
	}
	c.out.Name("UnprocessedItems") // none but on demand: all is written, or the request is refused
	c.out.Begin()
	for _, table := range slices.Sorted(maps.Keys(left)) {
		writeRequests(c.out, called(r.tables.V, table), left[table])
	}
	c.out.End()
	l.write(c.out)
	return nil
}

// writeRequests repeats requests for a table.
func writeRequests(out *wire.Encoder, table string, requests []store.WriteRequest) {
	out.Name(table)
	out.BeginArray()
	for _, w := range requests {
		kind, member, it := "PutRequest", "Item", w.Put
		if w.Delete != nil {
			kind, member, it = "DeleteRequest", "Key", w.Delete
		}
		out.Begin()
		out.Name(kind)
		out.Begin()
		named(out, member, it)
		out.End()
		out.End()
	}
	out.EndArray()
}

// batch makes the checks of the request and returns it as the store takes it.
func (r *batchWriteItem) batch() (store.BatchWrite, error) {
	batch := store.BatchWrite{}
	for _, name := range slices.Sorted(maps.Keys(r.tables.V)) {
		table := tableName(name)
		if _, twice := batch[table]; twice {
			return nil, errValidation("The table %s is named twice, by its name and by its ARN", table)
		}
		requests := r.tables.V[name]
		if slices.ContainsFunc(requests, func(w batchWrite) bool { return w.put == w.delete }) {
			return nil, errValidation("Supplied AttributeValue has more than one datatypes set, " +
				"must contain exactly one of the supported datatypes")
		}
		for i := range requests {
			one, err := requests[i].request()
			if err != nil {
				return nil, cmp.Or(tooLarge(batch), err)
			}
			batch[table] = append(batch[table], one)
		}
	}
	return batch, nil
}

func (w *batchWrite) request() (store.WriteRequest, error) {
	if w.delete {
		return store.WriteRequest{Delete: w.key.V}, w.key.Err
	}
	return store.WriteRequest{Put: w.item.V}, w.item.Err
}

// tooLarge finds an item that the store would refuse, where something behind it is refused before the store is asked.
func tooLarge(batch store.BatchWrite) error {
	for _, requests := range batch {
		for _, w := range requests {
			if attr.Size(w.Put) > attr.MaxItemSize {
				return attr.TooLarge()
			}
		}
	}
	return nil
}
