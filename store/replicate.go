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

// Replicator decides what of a write is sent to the cloud. It is called within the transaction that makes the write, so that
// its notes (Tx.Side) are committed with the write or not at all.
type Replicator interface {
	// Compile is called with the own application's writes (Origin "") when they have been judged and before any of them is
	// applied: one call for each Put, Update and Delete and each request of a BatchWrite to a table that sends
	// (TableSpec.Sends), and one call with all actions of a TransactWrite of which any is about such a table, in their
	// order, conditions and writes to other tables included. The delete of what is not there is no write, nor is an update
	// that only removes from it; Compile does not hear of them, unless as actions of a TransactWrite.
	//
	// An error refuses the writes and takes back what Compile noted of them; the transaction around them may go on. Compile
	// may read, and use Tx.Side. Writes of items within it are refused: the sequences it was told would not hold.
	Compile(tx *Tx, writes []Write) error

	// Expire reports whether the sweep may delete an expired row of a table that the cloud has too (it sends, or its policy is
	// pull). It is called within the sweep's transaction and may use Tx.Side. If the row stays, readers do not see it, and a
	// later pass asks again.
	Expire(tx *Tx, spec *TableSpec, key attr.Item) (bool, error)
}

// Write is one action of a transaction, as a Replicator sees it. It belongs to the store and is valid only during the call.
type Write struct {
	Seq     uint64 // of the journal record that it will have; 0: it changes nothing (a ConditionCheck, a delete of no item)
	Txn     uint64 // Seq of the first record of the whole Update
	Spec    *TableSpec
	Key     attr.Item
	RawKey  []byte       // as Tx.RawKey gives it
	Op      Op           // 0: a ConditionCheck
	Old     attr.Encoded // the row before, expired or not; nil: none
	New     attr.Encoded // after; nil: none. Of a ConditionCheck nil
	Request Request
	Sending Sending
	Bound   expr.Bound // of Request: Update and Condition
	Atomic  bool       // of a TransactWrite
	Sends   bool       // to a table that sends
	Read    bool       // this Update has seen the item before: see Tx.saw
}

// Sending says when the cloud gets a write to a table that sends. Without it a write waits for earlier writes to its own
// items, and for nothing else. It has no effect on this store and is not in the journal.
type Sending struct {
	// After names other items: the write is sent when all earlier writes to them, in this Update or before it, have settled,
	// whatever their outcome. Later writes to these items wait for this one.
	After []ItemRef
	// Ahead sends the write before waiting writes of other items. Writes that wait on its own items, or on those of After,
	// still go first.
	Ahead bool
}

// ItemRef names an item.
type ItemRef struct {
	Table string
	Key   attr.Item
}

// Replicate sets the Replicator. It is called once, before the store's first write; without it there is no cloud, and nothing
// is done for one.
func (s *Store) Replicate(r Replicator) { s.replicator.Store(&r) }

// replicatorOf is who is told of a transaction's writes, nil: nobody, because there is nobody or the writes are not the
// application's.
func (tx *Tx) replicatorOf() Replicator {
	if tx.replicator == nil || tx.core.Origin != "" {
		return nil
	}
	return tx.replicator
}

// compile has the replicator told of changes that are about to be made, with the actions they were made of. It may
// refuse them: then nothing has happened.
func (tx *Tx) compile(writes []write, changes []txn.Change, atomic bool) (told bool, err error) {
	r := tx.replicatorOf()
	if r == nil || !anySends(changes) {
		return false, nil
	}
	told = true
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
		return told, r.Compile(tx, list)
	}
	for i := range list {
		if list[i].Sends && list[i].Seq != 0 {
			if err := r.Compile(tx, list[i:i+1:i+1]); err != nil {
				return told, err
			}
		}
	}
	return told, nil
}

func anySends(changes []txn.Change) bool {
	return slices.ContainsFunc(changes, func(ch txn.Change) bool { return ch.Table.Sends })
}

// describe tells of changes what a replicator wants to know, the sequences that they will have among it.
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

// seen are the items that a transaction has read, of tables that send. Without a replicator it is not kept.
type seen struct {
	items map[itemID]struct{}
	all   bool // it has read too many to list: any item counts as read
}

// maxSeen bounds what a transaction remembers of its reads.
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

// saw notes that the transaction has shown an item to its caller, or that it is not there: by a read, by the images that a
// write returned, or by the old one of a failed condition. What is written to the item after that may be made of it. The
// items that a Query or Scan has looked at count, filtered or not; not those that it did not find.
func (tx *Tx) saw(t *catalogue.Table, key []byte) {
	if tx.replicator != nil && t.Sends && !tx.compiling {
		tx.seen.add(t, key)
	}
}

// mayExpire asks the replicator whether a row that is past its time may go.
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

// Adopt sets the row of a key to an item as the cloud has it, nil: to none, with its index entries and a journal record of
// the origin OriginCloud. It reports whether that changed anything. The replicator is not asked; a condition, a TTL, or
// the protection of a table are no matter. An item that no table can hold, or that is of another key, is fault.Invalid.
//
// An attribute that cannot be the key of an index leaves the item out of it, as it does in DynamoDB for an item that was
// there before the index.
func (tx *Tx) Adopt(table string, key, item attr.Item) (changed bool, err error) {
	if err := tx.enterWrite(); err != nil {
		return false, err
	}
	defer tx.core.Leave()
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

// adoptedRow makes a row of an item from elsewhere.
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

// leavesItem reports whether the row says already what the change would make it say.
func leavesItem(c *txn.Change, item attr.Item) (bool, error) {
	if c.Old == nil || item == nil {
		return c.Old == nil && item == nil, nil
	}
	old, err := c.Old.Decode()
	return err == nil && attr.EqualItems(old, item), err
}

// RawKey returns the key of an item in the order-keeping bytes of attr.AppendKey, partition key first: what Write.RawKey
// is.
func (tx *Tx) RawKey(table string, key attr.Item) (raw []byte, err error) {
	if err := tx.core.Enter(); err != nil {
		return nil, err
	}
	defer tx.core.Leave()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	return t.RequestKey(key)
}

// KeyOf is the key of which raw is the RawKey.
func (tx *Tx) KeyOf(table string, raw []byte) (attr.Item, error) {
	if err := tx.core.Enter(); err != nil {
		return nil, err
	}
	defer tx.core.Leave()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	return t.KeyItem(raw)
}
