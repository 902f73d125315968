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

// DynamoDB's limits for BatchGetItem and BatchWriteItem. The items of a batch of 25 are never as much as the 16 MB
// that a BatchWriteItem may have.
const (
	maxBatchGet      = 100
	maxBatchGetBytes = 16 << 20
	maxBatchWrite    = 25
)

// BatchGet asks for up to 100 items by their keys, in any tables, by the names of the tables.
type BatchGet map[string]KeysAndAttributes

// KeysAndAttributes are the items of one table that are asked for, and what to show of them.
type KeysAndAttributes struct {
	Keys       []attr.Item
	Projection string // empty: whole items
	expr.Params
}

// BatchGetResult is the items that were found, by table, in the order of their keys in the request.
type BatchGetResult struct {
	Items       map[string][]attr.Item // an entry for each table that was read, also when it has none of the items
	Unprocessed BatchGet               // what is left to ask for again, nil: nothing
}

// BatchGet reads items until they come to 16 MB, counting whole items whatever the projections show, and returns which keys it
// has not read. Tables are read in the order of their names. Items that do not exist, or are past their TTL, are left out. A
// key may be given only once.
func (tx *Tx) BatchGet(b BatchGet) (BatchGetResult, error) {
	if err := tx.core.Enter(); err != nil {
		return BatchGetResult{}, err
	}
	defer tx.core.Leave()
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
		tx.saw(reads[i].table, reads[i].key)
		tx.touchRead(reads[i].table, r)
		found := result.Items[reads[i].name]
		if r != nil {
			it, err := shown(r, reads[i].bound.Projection)
			if err != nil {
				return BatchGetResult{}, err
			}
			found = append(found, it)
		}
		result.Items[reads[i].name] = found
	}
	return result, nil
}

// rest is the part of the batch that has not been read.
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

// aimBatch returns the gets of a batch with their tables and keys.
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
			err = reads[i].table.CheckPaths(reads[i].bound.Projection.Nested())
		}
		if err != nil {
			return nil, cmp.Or(b.askOnce(), err)
		}
	}
	return reads, onlyOnce(reads)
}

// askOnce is onlyOnce for keys that do not fit their tables, or have none.
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

// check counts, and returns the names of the tables in order.
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

// onlyOnce refuses a batch with two requests about one item.
func onlyOnce(writes []write) error {
	if twice(writes) {
		return errTwice()
	}
	return nil
}

// BatchWrite is up to 25 requests, by the names of the tables.
type BatchWrite map[string][]WriteRequest

// WriteRequest is one of a BatchWrite: exactly one of its fields is set.
type WriteRequest struct {
	Put    attr.Item // the item to put
	Delete attr.Item // the key of the item to delete
}

// BatchWrite puts and deletes items without conditions, at most one request per item. Either all are done or the request is
// refused as a whole; DynamoDB does them one by one and may leave some unprocessed. The journal has them in the order of the
// tables' names.
func (tx *Tx) BatchWrite(b BatchWrite) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.core.Leave()
	call := tx.recall()
	if stands, err := tx.stands(call); err != nil || !stands {
		if call, err = tx.judgeBatch(b); err != nil {
			return err
		}
	}
	if tx.ahead != nil {
		tx.note(*call)
		return nil
	}
	told, err := tx.compile(call.writes, call.changes, false)
	if err != nil {
		return err
	}
	return tx.isTold(told, tx.performAll(call.changes))
}

// judgeBatch takes the requests to their changes.
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
		if changes[i], _, err = tx.judge(&writes[i], false); err != nil {
			return nil, err
		}
	}
	return &judged{writes: writes, changes: changes}, nil
}

// aimInBatch is aim and fit. Of a wrong key DynamoDB says less in a batch than in a PutItem.
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

// writes returns the requests of a batch, after refusing what needs no table to be refused.
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
