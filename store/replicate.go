package store

import (
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// Replicator decides what part of a write is sent to the cloud. It is called within the transaction that makes the write, so its notes
// (Tx.Side) are committed with the write or not at all.
type Replicator interface {
	// Compile is called with the application's own writes (Origin "") when all have been judged and none has been applied: once for each
	// Put, Update, Delete and BatchWrite request to a table that sends (TableSpec.Sends), and once for a TransactWrite with any such
	// table, with all of its actions in order, including checks and writes to other tables. Deleting a missing item, or an update that
	// only removes from one, is not a write: Compile sees it only as an action of a TransactWrite.
	//
	// An error refuses the writes and rolls back what Compile noted for them; the surrounding transaction may continue. Compile may read
	// and use Tx.Side. It must not write items: the sequences it was given would be wrong, so such writes are refused.
	Compile(tx *Tx, writes []Write) error

	// Expire reports whether the sweep may delete an expired row of a table that sends, which the cloud has too. It is called within the
	// sweep's transaction and may use Tx.Side. If the row stays, reads hide it, and a later pass asks again.
	Expire(tx *Tx, spec *TableSpec, key attr.Item) (bool, error)
}

// Write is one action of a transaction, as a Replicator sees it. It belongs to the store and is valid only during the call.
type Write struct {
	Seq     uint64 // of the journal record it will have; 0: it changes nothing (a ConditionCheck, a delete of a missing item)
	Txn     uint64 // Seq of the first record of the whole Update
	Spec    *TableSpec
	Key     attr.Item
	RawKey  []byte       // as Tx.RawKey returns it
	Op      Op           // 0: a ConditionCheck
	Old     attr.Encoded // the row before, expired or not; nil: none
	New     attr.Encoded // the row after; nil: none, or a ConditionCheck
	Request Request
	Sending Sending
	Bound   expr.Bound // Update and Condition of Request
	Atomic  bool       // part of a TransactWrite
	Sends   bool       // the table sends
	Read    bool       // this Update has seen the item before: see Tx.markSeen
}

// Sending controls when the cloud gets a write to a table that sends. By default a write waits for earlier writes to its own items and
// for nothing else. Sending has no effect on this store and is not in the journal.
type Sending struct {
	// After names other items: the write is sent when all earlier writes to them, in this Update or before it, have settled, whatever
	// their outcome. Later writes to these items wait for this one.
	After []ItemRef
	// Ahead sends the write before waiting writes of other items. Waiting writes of its own items, or of those in After, still go first.
	Ahead bool
}

// ItemRef identifies an item.
type ItemRef struct {
	Table string
	Key   attr.Item
}

// Replicate sets the Replicator. Call it once, before the store's first write. Without a Replicator there is no cloud, and no work is
// done for one.
func (s *Store) Replicate(r Replicator) { s.replicator.Store(&r) }

// replicatorOf returns the Replicator for a transaction's writes. It is nil if the store has none or if the writes are not the
// application's.
func (tx *Tx) replicatorOf() Replicator {
	if tx.replicator == nil || tx.core.Origin != "" {
		return nil
	}
	return tx.replicator
}

// compile passes changes that are about to be made to the replicator, with the actions they come from, and reports whether it did. If the
// replicator refuses them, its notes are rolled back.
func (tx *Tx) compile(writes []write, changes []txn.Change, atomic bool) (noted bool, err error) {
	r := tx.replicatorOf()
	if r == nil || !anySends(changes) {
		return false, nil
	}
	noted = true
	list, err := tx.describe(writes, changes, atomic)
	if err != nil {
		return false, err
	}
	before := tx.core.Batch.Savepoint()
	tx.compiling = true
	defer func() {
		tx.compiling = false
		if err != nil {
			tx.core.Batch.RollbackTo(before)
		}
	}()
	if atomic {
		return noted, r.Compile(tx, list)
	}
	for i := range list {
		if list[i].Sends && list[i].Seq != 0 {
			if err := r.Compile(tx, list[i:i+1:i+1]); err != nil {
				return noted, err
			}
		}
	}
	return noted, nil
}

func anySends(changes []txn.Change) bool {
	return slices.ContainsFunc(changes, func(ch txn.Change) bool { return ch.Table.Sends })
}

// describe returns changes in the form that a Replicator gets, including the sequences they will have.
func (tx *Tx) describe(writes []write, changes []txn.Change, atomic bool) ([]Write, error) {
	next := tx.core.Batch.Journal.Last + 1
	txn := tx.core.First
	if txn == 0 {
		txn = next
	}
	out := make([]Write, len(changes))
	for i := range changes {
		c := &changes[i]
		key, err := c.Table.KeyItem(c.Key)
		if err != nil {
			return nil, err
		}
		w := &out[i]
		*w = Write{
			Txn: txn, Spec: &c.Table.Spec, Key: key, RawKey: c.Key, Op: c.Op, Request: c.Request, Bound: writes[i].bound,
			Sending: writes[i].sending, Atomic: atomic, Sends: c.Table.Sends, Read: tx.seen.has(c.Table, c.Key),
		}
		if c.Old != nil {
			w.Old = c.Old.Item()
		}
		if c.Now != nil {
			w.New = c.Now.Item()
		}
		if c.Changes() {
			w.Seq = next
			next++
		}
	}
	return out, nil
}

func errCompiling() error {
	return fault.New(fault.Internal, "tx_compiling", "a write of an item within Replicator.Compile")
}

// seen is the set of items that a transaction has read from tables that send. It is not kept without a replicator.
type seen struct {
	items map[itemID]struct{}
	all   bool // too many to list, or not listed (see walk.markSeen): every item counts as read
}

// maxSeen limits how many reads a transaction remembers.
const maxSeen = 10_000

func (s *seen) add(t *catalogue.Table, key []byte) {
	switch {
	case s.all:
		return
	case s.items == nil:
		s.items = map[itemID]struct{}{}
	case len(s.items) >= maxSeen:
		s.items, s.all = nil, true
		return
	}
	s.items[itemID{t.ID, string(key)}] = struct{}{}
}

func (s *seen) has(t *catalogue.Table, key []byte) bool {
	if s.all {
		return true
	}
	_, ok := s.items[itemID{t.ID, string(key)}]
	return ok
}

// markSeen notes that the transaction has shown an item, or its absence, to its caller: by a read, by the images that a write returned, or by
// the old image of a failed condition. Later writes to the item may depend on it. All items that a Query or Scan looked at count,
// filtered or not; items it did not find do not.
func (tx *Tx) markSeen(t *catalogue.Table, key []byte) {
	if tx.replicator != nil && t.Sends && !tx.compiling {
		tx.seen.add(t, key)
	}
}

// mayExpire asks the replicator whether an expired row may be deleted.
func (s *Store) mayExpire(c *txn.Tx, t *catalogue.Table, raw []byte) (bool, error) {
	r := s.replicator.Load()
	if r == nil {
		return true, nil
	}
	key, err := t.KeyItem(raw)
	if err != nil {
		return false, err
	}
	return (*r).Expire(s.newTx(c), &t.Spec, key)
}

// Adopt sets the row of a key to the cloud's item, or removes it if item is nil, with its index entries and a journal record of origin
// OriginCloud. It reports whether anything changed. It does not ask the replicator, and ignores conditions, TTL and table protection. An
// item that no table can hold, or that has another key, is fault.Invalid.
//
// An item whose attribute cannot be the key of an index is left out of that index, as in DynamoDB for items older than the index.
func (tx *Tx) Adopt(table string, key, item attr.Item) (changed bool, err error) {
	if err := tx.enterWrite(); err != nil {
		return false, err
	}
	defer tx.core.EndCall()
	t, err := tx.table(table)
	if err != nil {
		return false, err
	}
	raw, err := t.RequestKey(key)
	if err != nil {
		return false, err
	}
	old, err := tx.core.Row(t, raw)
	if err != nil {
		return false, err
	}
	c := txn.Change{Table: t, Key: raw, Old: old, Op: OpDelete}
	if item != nil {
		if c.Now, err = adoptedRow(item, key, old); err != nil {
			return false, err
		}
		c.Op = OpPut
	}
	same, err := leavesItem(&c, item)
	if err != nil || same {
		return false, err
	}
	origin := tx.core.Origin
	tx.core.Origin = OriginCloud
	defer func() { tx.core.Origin = origin }()
	return true, tx.core.Apply(c)
}

// adoptedRow builds the row of an item from the cloud.
func adoptedRow(item, key attr.Item, old format.Row) (format.Row, error) {
	for name, v := range key {
		if !attr.Equal(item[name], v) {
			return nil, refusal.Invalid("an item to be adopted in %s does not have the key that was asked for", name)
		}
	}
	size, err := attr.Measure(item)
	if err != nil {
		return nil, err
	}
	return format.NewRow(item, size, old), nil
}

// leavesItem reports whether the row already holds the item of the change.
func leavesItem(c *txn.Change, item attr.Item) (bool, error) {
	if c.Old == nil || item == nil {
		return c.Old == nil && item == nil, nil
	}
	old, err := c.Old.Decode()
	return err == nil && attr.EqualItems(old, item), err
}

// RawKey returns the key of an item in the order-preserving bytes of attr.AppendKey, partition key first. Write.RawKey has the same form.
func (tx *Tx) RawKey(table string, key attr.Item) (raw []byte, err error) {
	if err := tx.core.BeginCall(); err != nil {
		return nil, err
	}
	defer tx.core.EndCall()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	return t.RequestKey(key)
}

// KeyOf returns the key whose RawKey is raw.
func (tx *Tx) KeyOf(table string, raw []byte) (attr.Item, error) {
	if err := tx.core.BeginCall(); err != nil {
		return nil, err
	}
	defer tx.core.EndCall()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	return t.KeyItem(raw)
}
