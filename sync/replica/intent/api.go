package intent

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Subject is one action of a TransactWrite with what is known of its item.
type Subject struct {
	Write   *store.Write
	Known   Known
	Pending []*Entry // of the item, in their order
}

// Compile makes the entry of one write, before it is applied to the store; nil: nothing of it is to be sent. An error of
// kind fault.Invalid, in DynamoDB's words, refuses the write. Pending are the item's entries so far, in their order.
func Compile(w *store.Write, known Known, pending []*Entry, env Env) (*Entry, error) { return nil, nil }

// CompileAll makes the entries of one TransactWrite: one cloud transaction, and beside it what is sent alone (of policy
// state). Actions on tables that do not send make none.
func CompileAll(subjects []Subject, env Env) ([]*Entry, error) { return nil, nil }

// Coalesce folds an entry into the one behind it on the same item, if both were never attempted and the effect and the
// conditions stay the same. The folded entry has the later one's sequence and takes the place of both.
func Coalesce(earlier, later *Entry, exprs *expr.Cache) (folded *Entry, ok bool) { return nil, false }

// View is what readers see of an item: its pending entries, in their order, applied to the base. Doubtful are the
// sequences of those whose condition or guards do not hold there, or that cannot be applied: they are not in it.
// Entries of policy through and quarantined ones are not in it either. The items given are not changed.
func View(known Known, pending []*Entry, exprs *expr.Cache) (item attr.Item, doubtful []uint64) {
	return known.Item, nil
}

// Next says what is to be done with a unit now. Known are the bases of its entries' items.
func (u *Unit) Next(known []Known, env Env) Action { return Action{} }

// Attempt notes that an action is about to be sent. The caller stores the entries durably before the first byte.
func (u *Unit) Attempt(a *Action) {}

// Take says what an answer to an action means, and notes in the entries what has to be remembered: the caller stores them
// in the transaction in which it acts on the outcome, if they stay.
func (u *Unit) Take(a Action, ans Answer, known []Known, env Env) Outcome { return Outcome{} }

// Follow tells the later entries on an entry's item what became of it, when it has left the outbox: those behind a create
// learn the life it has begun. It gives those it has changed. Tail comes before it.
func Follow(e *Entry, o Outcome, after Known, later []*Entry, env Env) (changed []*Entry) { return nil }

// Rebase tells the pending entries of an item that its base has changed by a feed or a read. It gives those it has
// changed: an update, never sent, of an item that has come to the end of its TTL becomes the create of the whole view.
func Rebase(before, after Known, pending []*Entry, env Env) (changed []*Entry) { return nil }

// Queue finds pending entries.
type Queue interface {
	// Item gives the pending entries of an item, in their order.
	Item(table string, key attr.Item) []*Entry
	// Transaction gives all entries of a cloud transaction, in their order.
	Transaction(txn uint64) []*Entry
}

// Tail gives what a rejected unit takes along: the later, never sent entries that carry its effect, with their
// transactions and what those take along in turn, in the order of their sequences.
func Tail(u *Unit, q Queue) []*Entry { return nil }

// Behind gives what waits behind a quarantined unit: all later entries of its items, with their transactions, and what
// waits behind those.
func Behind(u *Unit, q Queue) []*Entry { return nil }

// Shown tells whether an image proves that the entry was applied: it carries the entry's exact mark.
func (e *Entry) Shown(side Sidecar, node string) bool { return false }

// Encode gives the stored form of the entry.
func (e *Entry) Encode() []byte { return nil }

// DecodeEntry reads what Encode has written. Anything else is fault.Damaged.
func DecodeEntry(b []byte) (*Entry, error) { return nil, nil }
