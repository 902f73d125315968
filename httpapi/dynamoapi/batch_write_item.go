package dynamoapi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxBatchWrites is how many items a BatchWriteItem may write.
const maxBatchWrites = 25

// batchWriteItem puts and deletes items in any tables.
type batchWriteItem struct {
	tables   wire.Opt[map[string][]batchWrite]
	capacity wire.Opt[string]
	metrics  wire.Opt[string] // ReturnItemCollectionMetrics
}

// batchWrite is one request of a batch.
type batchWrite struct {
	put    wire.Opt[wire.Item] // its Item
	delete wire.Opt[wire.Item] // its Key
}

func (r *batchWriteItem) members(m *wire.Member) {
	m.Text("ReturnConsumedCapacity", &r.capacity)
	m.Text("ReturnItemCollectionMetrics", &r.metrics)
	m.Read("RequestItems", func(d *wire.Decoder) {
		r.tables = wire.Opt[map[string][]batchWrite]{V: map[string][]batchWrite{}, Set: true}
		d.MapUpTo(maxBatchWrites, "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>", func(table string) {
			r.tables.V[table] = nil
			d.ArrayUpTo(maxBatchWrites, func(int) {
				var w batchWrite
				d.Object("WriteRequest", w.members)
				r.tables.V[table] = append(r.tables.V[table], w)
			})
		})
	})
}

func (w *batchWrite) members(m *wire.Member) {
	wire.Object(m, "PutRequest", "PutRequest", &w.put, func(put *wire.Item, m *wire.Member) { m.Item("Item", put) })
	wire.Object(m, "DeleteRequest", "DeleteRequest", &w.delete, func(key *wire.Item, m *wire.Member) { m.Item("Key", key) })
}

func (r *batchWriteItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.returnItemCollectionMetrics(r.metrics)
	if !c.require("requestItems", r.tables.Set) {
		return
	}
	names := constrainTables(c, r.tables.V, maxBatchWrites, r.requestWithoutItems)
	for _, table := range names {
		if n := len(r.tables.V[table]); !c.full() && (n < 1 || n > maxBatchWrites) {
			c.fail("requestItems", r.requestWithoutItems(), "Map value must satisfy constraint: [Member must have length less than or equal to %d, "+
				"Member must have length greater than or equal to 1]", maxBatchWrites)
		}
	}
	for _, table := range names {
		for i, w := range r.tables.V[table] {
			at := fmt.Sprintf("requestItems.%s.member.%d.member", table, i+1)
			if w.delete.Set {
				c.require(at+".deleteRequest.key", w.delete.V.Set)
			}
			if w.put.Set {
				c.require(at+".putRequest.item", w.put.V.Set)
			}
		}
	}
}

// requestWithoutItems returns RequestItems as errors show it: without the items.
func (r *batchWriteItem) requestWithoutItems() string {
	return showTables(r.tables.V, func(w []batchWrite) int { return len(w) }, "requests")
}

func (r *batchWriteItem) touches(operation string, visit func(action, table string)) {
	for table := range r.tables.V {
		visit(operation, table)
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
			l.units.watch(tx, false)
			return tx.BatchWrite(batch)
		})
	}
	if err != nil {
		return err
	}
	c.out.Name("UnprocessedItems") // empty without fault injection: the batch is written whole or refused whole
	c.out.Begin()
	for _, table := range slices.Sorted(maps.Keys(left)) {
		writeRequests(c.out, requestedName(r.tables.V, table), left[table])
	}
	c.out.End()
	l.write(c.out)
	return nil
}

// writeRequests writes requests about a table again.
func writeRequests(out *wire.Encoder, table string, requests []store.WriteRequest) {
	out.NamedArray(table)
	for _, w := range requests {
		kind, member, it := "PutRequest", "Item", w.Put
		if w.Delete != nil {
			kind, member, it = "DeleteRequest", "Key", w.Delete
		}
		out.Begin()
		out.NamedObject(kind)
		writeItem(out, member, it)
		out.End()
		out.End()
	}
	out.EndArray()
}

// batch checks the request and returns it for the store.
func (r *batchWriteItem) batch() (store.BatchWrite, error) {
	batch := store.BatchWrite{}
	for _, name := range slices.Sorted(maps.Keys(r.tables.V)) {
		table := tableName(name)
		if _, twice := batch[table]; twice {
			return nil, errValidation("The table %s is named twice, by its name and by its ARN", table)
		}
		requests := r.tables.V[name]
		if slices.ContainsFunc(requests, func(w batchWrite) bool { return w.put.Set == w.delete.Set }) {
			return nil, errValidation("Supplied AttributeValue has more than one datatypes set, " +
				"must contain exactly one of the supported datatypes")
		}
		for i := range requests {
			write, err := requests[i].request()
			if err != nil {
				if large := tooLarge(batch); large != nil {
					return nil, large
				}
				return nil, err
			}
			batch[table] = append(batch[table], write)
		}
	}
	return batch, nil
}

func (w *batchWrite) request() (store.WriteRequest, error) {
	if w.delete.Set {
		return store.WriteRequest{Delete: w.delete.V.V}, w.delete.V.Err
	}
	return store.WriteRequest{Put: w.put.V.V}, w.put.V.Err
}

// tooLarge returns the store's error for an item that is too large, for a request that fails before it reaches the store.
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
