package conflict

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Record is the record of one decision: which writes did not, or may not have, become what the application said, what
// the cloud had instead, and what was done about it.
//
// Whoever settles a batch calls, in the transaction in which it leaves the outbox and after base and view are set,
//
//	err := log.Keep(tx, &Record{Head: Head{Kind: ..., Code: ..., Text: ...}, Decided: ..., Tail: ...})
//
// which fills in the rest, runs the table's merge handler where it has one (its writes go through tx and are compiled
// and journaled anew), and keeps the record. The entries named here are out of the outbox by then; of KindQuarantine
// they stay in it, held, until somebody decides.
type Record struct {
	Head
	Decided []Decided       // the batch: one entry, or all of a transaction in their order
	Tail    []*intent.Entry // decided together with it: what carried its effect, or stands behind a quarantined one
}

// Head is a record without its writes, as stored in the log and as shown (View).
type Head struct {
	ID    uint64    `json:"id"` // counts from 1, never used again; filled in
	At    time.Time `json:"at"` // of the decision; zero: the transaction's instant, filled in
	Kind  Kind      `json:"kind"`
	State State     `json:"state"` // zero: what the kind begins with

	Code string `json:"code"` // stable, snake_case: condition_failed, deleted, unknown, deposed, ...
	Text string `json:"text"` // one sentence for a person, without values of the item

	ClosedAt time.Time `json:"closedAt,omitzero"` // zero: it is open
	Note     string    `json:"note,omitempty"`    // why a retry or a merge did not go, what had to be left out, who closed it
	NewSeqs  []uint64  `json:"newSeqs,omitempty"` // of the journal: what the retry or the merge wrote
}

// Decided is one entry of a decision, with the images of its item at that time.
type Decided struct {
	Entry *intent.Entry
	Met   attr.Item   // the cloud's item as the refusal showed it (ALL_OLD), sidecar included; nil: none, or not shown
	Base  attr.Item   // the last confirmed image before, without sidecar; nil: none
	Seen  outbox.Seen // base and view while the entry was in the view. For the merge handler, not kept
}

// Kind says what was decided.
type Kind string

// The kinds.
const (
	KindRefused    Kind = "conflict"   // the cloud's item does not satisfy what the write asked for
	KindSuperseded Kind = "superseded" // another write won by policy, nothing is to be done: a loser of newest, a tombstone
	KindUnknown    Kind = "unknown"    // sent, and nobody can tell any more whether it applied
	KindGone       Kind = "gone"       // the item was deleted meanwhile
	KindDeposed    Kind = "deposed"    // written under a lease that another node has taken over since
	KindLost       Kind = "lost"       // settled in a timeline that was lost: an older file, a restored cloud
	KindQuarantine Kind = "quarantine" // the cloud can never take it as it is
)

// Begins returns the state in which a record of the kind is created: decided if nobody has to act.
func (k Kind) Begins() State {
	switch k {
	case KindSuperseded, KindDeposed, KindLost:
		return StateDecided
	case KindRefused, KindUnknown, KindGone, KindQuarantine:
	}
	return StateOpen
}

// State is what became of a conflict.
type State string

// The states.
const (
	StateOpen      State = "open"
	StateRetried   State = "retried"   // written anew, see NewSeqs
	StateDiscarded State = "discarded" // by an operator
	StateResolved  State = "resolved"  // by the application's merge handler
	StateDecided   State = "decided"   // by the policy: kept to be looked up, nobody has to do anything
	StateAny       State = "all"       // of a Query alone
)

// States returns the states that a list can be asked for.
func States() []string { return []string{"open", "retried", "discarded", "resolved", "decided", "all"} }

// closed reports whether nothing more can be done with it.
func (s State) closed() bool {
	return s == StateRetried || s == StateDiscarded || s == StateResolved
}

// Entries returns all entries of the record: the batch's, then the tail's.
func (c *Record) Entries() []*intent.Entry {
	out := make([]*intent.Entry, 0, len(c.Decided)+len(c.Tail))
	for i := range c.Decided {
		out = append(out, c.Decided[i].Entry)
	}
	return append(out, c.Tail...)
}

// String identifies a conflict in logs. It leaves out keys, which may be personal.
func (c *Record) String() string {
	return fmt.Sprintf("%s %d (%s)", c.Kind, c.ID, c.Code)
}

// MergeCase is what a merge handler decides on: the entries that were refused and three images of each item, without
// sidecars.
type MergeCase struct {
	Code    string
	Entries []*intent.Entry // refused, in their order; not to be changed
	Tail    []*intent.Entry
	Items   []MergeItem // one for each of Entries
	// Get reads another row, as this node has it in the deciding transaction; nil: there is none. Rows on which the refused
	// transaction had conditions are as the cloud has them.
	Get func(table string, key attr.Item) (attr.Item, error)
}

// MergeItem is an item as it was, as it was seen here while the entry was in the view, and as the cloud has it, with those of our
// writes that hold there, another merge's among them: what a merge writes upon. nil: no item. Base and View are from before anything
// that others wrote took the entry out of the view.
type MergeItem struct {
	Base, View, Remote attr.Item
}

// MergeFunc is an application's answer to conflicts on a table, in the place of a person's. It is pure: the same case
// gives the same writes, it reads no clock and asks nobody but its case. Its writes are made like any of the application, all or none,
// with conditions of their own where they need them; several are one transaction. Not ok: it has no answer, a person is
// asked.
type MergeFunc func(MergeCase) (writes []store.WriteItem, ok bool)
