package store

import (
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Replicator decides what of a write goes to the cloud. It is told within the transaction that makes the write, so that
// what it notes (Tx.Side) is there with the write or not at all.
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

	// Expire reports whether the sweep may delete an expired row of a table that the cloud has too (it sends, or its
	// policy is pull). It is called within the sweep's transaction and may use Tx.Side. A row that stays is hidden from
	// readers, and is asked about again in a later pass.
	Expire(tx *Tx, spec *TableSpec, key attr.Item) (bool, error)
}

// Write is one action on its way into the store, for a Replicator. It belongs to the store and is valid within the call.
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

// Sending says of a write to a table that sends when the cloud gets it. Without it a write waits for what was written to
// its items before, and for nothing else. It changes nothing of what is done here, and is not in the journal.
type Sending struct {
	// After names items of other keys: the write is sent when what was written to them before, in this Update or an
	// earlier one, has settled, whatever became of it. What is written to them later waits for the write.
	After []ItemRef
	// Ahead has the write be sent before those that wait for their turn, of other items. What waits on its own items, or on
	// those of After, goes first all the same.
	Ahead bool
}

// ItemRef names an item.
type ItemRef struct {
	Table string
	Key   attr.Item
}

// Sends reports whether writes to the table go to the cloud, were there one.
func (t *TableSpec) Sends() bool {
	switch t.Policy {
	case PolicyIntent, PolicyNewest, PolicyState:
		return !t.Internal
	case PolicyLocal, PolicyLock:
	}
	return false
}

// Replicate sets who is told of the writes. It is called once, before the store's first write; without it there is no
// cloud, and nothing of what a Replicator needs is done.
func (s *Store) Replicate(r Replicator) { s.replicator.Store(&r) }

// replicatorOf is who is told of a transaction's writes, nil: nobody, because there is nobody or the writes are not the
// application's.
func (tx *Tx) replicatorOf() Replicator {
	if tx.replicator == nil || tx.origin != "" {
		return nil
	}
	return tx.replicator
}

// compile has the replicator told of changes that are about to be made, with the actions they were made of. It may
// refuse them: then nothing has happened.
func (tx *Tx) compile(writes []write, changes []change, atomic bool) (told bool, err error) {
	r := tx.replicatorOf()
	if r == nil || !anySends(changes) {
		return false, nil
	}
	told = true
	list, err := tx.describe(writes, changes, atomic)
	if err != nil {
		return false, err
	}
	before := tx.batch.savepoint()
	tx.compiling = true
	defer func() {
		tx.compiling = false
		if err != nil {
			tx.batch.rollbackTo(before)
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

func anySends(changes []change) bool {
	for i := range changes {
		if changes[i].table.sends {
			return true
		}
	}
	return false
}

// describe tells of changes what a replicator wants to know, the sequences that they will have among it.
func (tx *Tx) describe(writes []write, changes []change, atomic bool) ([]Write, error) {
	next := tx.batch.journal.last + 1
	txn := tx.first
	if txn == 0 {
		txn = next
	}
	out := make([]Write, len(changes))
	for i := range changes {
		c := &changes[i]
		key, err := c.table.keyItem(c.key)
		if err != nil {
			return nil, err
		}
		w := &out[i]
		*w = Write{
			Txn: txn, Spec: &c.table.spec, Key: key, RawKey: c.key, Op: c.op, Request: c.request, Bound: writes[i].bound,
			Sending: writes[i].sending, Atomic: atomic, Sends: c.table.sends, Read: tx.seen.has(c.table, c.key),
		}
		if c.old != nil {
			w.Old = c.old.item()
		}
		if c.now != nil {
			w.New = c.now.item()
		}
		if c.changes() {
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

func (s *seen) add(t *table, key []byte) {
	switch {
	case s.all:
		return
	case s.items == nil:
		s.items = map[itemID]struct{}{}
	case len(s.items) >= maxSeen:
		s.items, s.all = nil, true
		return
	}
	s.items[itemID{t.id, string(key)}] = struct{}{}
}

func (s *seen) has(t *table, key []byte) bool {
	if s.all {
		return true
	}
	_, ok := s.items[itemID{t.id, string(key)}]
	return ok
}

// saw notes that the transaction has shown an item to its caller, or that it is not there: by a read, by the images that a
// write returned, or by the old one of a failed condition. What is written to the item after that may be made of it. The
// items that a Query or Scan has looked at count, filtered or not; not those that it did not find.
func (tx *Tx) saw(t *table, key []byte) {
	if tx.replicator != nil && t.sends && !tx.compiling {
		tx.seen.add(t, key)
	}
}
