package store

import (
	"cmp"
	"maps"
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// DynamoDB's limits for BatchGetItem and BatchWriteItem. A batch of 25 items can never reach the 16 MB that a BatchWriteItem may have.
const (
	maxBatchGet      = 100
	maxBatchGetBytes = 16 << 20
	maxBatchWrite    = 25
)

// BatchGet requests up to 100 items by key, grouped by table name.
type BatchGet map[string]KeysAndAttributes

// KeysAndAttributes holds the requested keys of one table and the projection to apply to the items.
type KeysAndAttributes struct {
	Keys       []attr.Item
	Projection string // empty: whole items
	expr.Params
}

// BatchGetResult holds the items found, by table, in the order of their keys in the request.
type BatchGetResult struct {
	Items       map[string][]attr.Item // an entry for each table that was read, even if no item was found
	Unprocessed BatchGet               // the keys still to be requested; nil if none
}

// BatchGet reads items until they add up to 16 MB, counting whole items regardless of projections, and returns the keys it did not read
// as Unprocessed. It reads tables in the order of their names. It leaves out items that do not exist or are past their TTL. A key may be
// given only once.
func (tx *Tx) BatchGet(b BatchGet) (BatchGetResult, error) {
	if err := tx.core.BeginCall(); err != nil {
		return BatchGetResult{}, err
	}
	defer tx.core.EndCall()
	reads, err := tx.aimBatch(b)
	if err != nil {
		return BatchGetResult{}, err
	}
	result := BatchGetResult{Items: map[string][]attr.Item{}}
	bytes := 0
	for i := range reads {
		r, err := tx.visible(reads[i].table, reads[i].key)
		if err != nil {
			return BatchGetResult{}, err
		}
		if bytes += r.Bytes(); bytes > maxBatchGetBytes {
			result.Unprocessed = b.rest(reads[i:])
			break
		}
		tx.markSeen(reads[i].table, reads[i].key)
		tx.touchRead(reads[i].table, r)
		found := result.Items[reads[i].name]
		if r != nil {
			it, err := projectRow(r, reads[i].bound.Projection)
			if err != nil {
				return BatchGetResult{}, err
			}
			found = append(found, it)
		}
		result.Items[reads[i].name] = found
	}
	return result, nil
}

// rest returns the part of the batch that has not been read.
func (b BatchGet) rest(reads []write) BatchGet {
	rest := BatchGet{}
	for i := range reads {
		name := reads[i].name
		ask, ok := rest[name]
		if !ok {
			ask = KeysAndAttributes{Projection: b[name].Projection, Params: b[name].Params}
		}
		ask.Keys = append(ask.Keys, reads[i].subject)
		rest[name] = ask
	}
	return rest
}

// aimBatch resolves the tables and keys of a batch's reads.
func (tx *Tx) aimBatch(b BatchGet) ([]write, error) {
	names, err := b.check()
	if err != nil {
		return nil, err
	}
	var reads []write
	for _, name := range names {
		ask := b[name]
		bound, err := tx.s.exprs.Bind(expr.Request{Projection: ask.Projection, Params: ask.Params})
		if err != nil {
			return nil, err
		}
		for _, key := range ask.Keys {
			reads = append(reads, write{op: opCheck, name: name, subject: key, bound: bound})
		}
	}
	for i := range reads {
		err := reads[i].find(tx)
		if err == nil {
			err = reads[i].aim()
		}
		if err == nil {
			err = reads[i].table.CheckPaths(reads[i].bound.Projection.NestedNames())
		}
		if err != nil {
			return nil, cmp.Or(b.askOnce(), err)
		}
	}
	return reads, onlyOnce(reads)
}

// askOnce is onlyOnce for requests whose table is missing or whose keys do not fit it.
func (b BatchGet) askOnce() error {
	for _, ask := range b {
		for i, key := range ask.Keys {
			if slices.ContainsFunc(ask.Keys[:i], func(other attr.Item) bool { return attr.Equal(attr.M(key), attr.M(other)) }) {
				return errTwice()
			}
		}
	}
	return nil
}

func errTwice() error { return refusal.Invalid("Provided list of item keys contains duplicates") }

// check validates the number of keys and returns the table names in order.
func (b BatchGet) check() (names []string, err error) {
	if len(b) == 0 {
		return nil, refusal.Constraint("RequestItems", "Member must have length greater than or equal to 1")
	}
	names = slices.Sorted(maps.Keys(b))
	total := 0
	for _, name := range names {
		if err := refusal.Count(len(b[name].Keys), maxBatchGet, "RequestItems."+name+".member.Keys"); err != nil {
			return nil, err
		}
		total += len(b[name].Keys)
	}
	if total > maxBatchGet {
		return nil, refusal.Invalid("Too many items requested for the BatchGetItem call")
	}
	return names, nil
}

// onlyOnce refuses a batch with two requests for one item.
func onlyOnce(writes []write) error {
	if twice(writes) {
		return errTwice()
	}
	return nil
}

// BatchWrite is up to 25 requests, grouped by table name.
type BatchWrite map[string][]WriteRequest

// WriteRequest is one request of a BatchWrite. Exactly one of its fields is set.
type WriteRequest struct {
	Put    attr.Item // the item to put
	Delete attr.Item // the key of the item to delete
}

// BatchWrite puts and deletes items without conditions, at most one request per item. Either all requests are done or the batch is
// refused as a whole; DynamoDB does them one by one and may leave some unprocessed. The journal records them in the order of the table
// names.
func (tx *Tx) BatchWrite(b BatchWrite) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.core.EndCall()
	call := tx.recall()
	if stands, err := tx.stands(call); err != nil || !stands {
		if call, err = tx.judgeBatch(b); err != nil {
			return err
		}
	}
	if tx.ahead != nil {
		tx.recordJudged(*call)
		return nil
	}
	noted, err := tx.compile(call.writes, call.changes, false)
	if err != nil {
		return err
	}
	return tx.breakIfNoted(noted, tx.performAll(call.changes))
}

// judgeBatch turns the requests into changes.
func (tx *Tx) judgeBatch(b BatchWrite) (*judged, error) {
	writes, err := b.writes()
	if err != nil {
		return nil, err
	}
	for i := range writes {
		if err := tx.aimInBatch(&writes[i]); err != nil {
			return nil, err
		}
	}
	if err := onlyOnce(writes); err != nil {
		return nil, err
	}
	changes := make([]txn.Change, len(writes))
	for i := range writes {
		if changes[i], _, err = tx.computeChange(&writes[i], false); err != nil {
			return nil, err
		}
	}
	return &judged{writes: writes, changes: changes}, nil
}

// aimInBatch runs the steps find, aim and fit. For a wrong key, DynamoDB's message is shorter in a batch than in a PutItem.
func (tx *Tx) aimInBatch(w *write) (err error) {
	if err := w.find(tx); err != nil {
		return err
	}
	if w.op == OpPut && !w.table.HasKey(w.subject) {
		return catalogue.ErrKeySchema()
	}
	if err := w.aim(); err != nil {
		return err
	}
	return w.fit()
}

// writes returns the requests of a batch as writes. It first refuses every fault that can be found without looking at a table.
func (b BatchWrite) writes() ([]write, error) {
	if len(b) == 0 {
		return nil, refusal.Constraint("RequestItems", "Member must have length greater than or equal to 1")
	}
	var writes []write
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if err := refusal.Count(len(b[name]), maxBatchWrite, "RequestItems."+name+".member"); err != nil {
			return nil, err
		}
		for _, r := range b[name] {
			w := write{op: OpPut, name: name, subject: r.Put}
			switch {
			case (r.Put == nil) == (r.Delete == nil):
				return nil, refusal.Invalid("Supplied AttributeValue has more than one datatypes set, " +
					"must contain exactly one of the supported datatypes")
			case r.Delete != nil:
				w = write{op: OpDelete, name: name, subject: r.Delete}
			}
			if err := w.checkBare(); err != nil {
				return nil, err
			}
			writes = append(writes, w)
		}
	}
	if len(writes) > maxBatchWrite {
		return nil, refusal.Invalid("Too many items requested for the BatchWriteItem call")
	}
	return writes, nil
}
