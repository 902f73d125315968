package conflict

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Record is one decision: which writes did not, or may not have, become what the application asked for, what the cloud had instead, and
// what was done about it.
//
// The settling code calls, in the transaction in which a batch leaves the outbox and after base and view are set,
//
//	err := log.StoreDecision(tx, &Record{Head: Head{Kind: ..., Code: ..., Text: ...}, Decided: ..., Tail: ...})
//
// which fills in the rest, runs the table's merge handler if there is one (its writes go through tx and are compiled and journaled
// anew), and stores the record. The entries have left the outbox by then; those of KindQuarantine stay in it, held, until
// somebody decides.
type Record struct {
	Head
	Decided []Decided       // the batch: one entry, or all of a transaction in order
	Tail    []*intent.Entry // decided together with it: entries that carried its effect, or stand behind a quarantine
}

// Head is a record without its writes, as stored in the log and as shown (View).
type Head struct {
	ID    uint64    `json:"id"` // counts from 1, never reused; filled in
	At    time.Time `json:"at"` // of the decision; zero: filled in with the transaction's instant
	Kind  Kind      `json:"kind"`
	State State     `json:"state"` // zero: the kind's initial state

	Code string `json:"code"` // stable, snake_case: condition_failed, deleted, unknown, deposed, ...
	Text string `json:"text"` // one sentence for a person, without values of the item

	ClosedAt time.Time `json:"closedAt,omitzero"` // zero: open
	Note     string    `json:"note,omitempty"`    // why a retry or a merge failed, what had to be left out, who closed it
	NewSeqs  []uint64  `json:"newSeqs,omitempty"` // journal sequences that the retry or the merge wrote
}

// Decided is one entry of a decision, with the images of its item at that time.
type Decided struct {
	Entry *intent.Entry
	Met   attr.Item   // the cloud's item as the refusal showed it (ALL_OLD), sidecar included; nil: none, or not shown
	Base  attr.Item   // the last confirmed image before, without sidecar; nil: none
	Seen  outbox.Seen // base and view while the entry was in the view; for the merge handler, not stored
}

// Kind says what was decided.
type Kind string

// Values of Kind.
const (
	KindRefused    Kind = "conflict"   // the cloud's item does not satisfy the write's condition
	KindSuperseded Kind = "superseded" // another write won by the table's policy, or the cloud has had it and another node deleted it since
	KindUnknown    Kind = "unknown"    // sent, and it is no longer possible to tell whether it applied
	KindGone       Kind = "gone"       // the item was deleted meanwhile
	KindFencedOff  Kind = "deposed"    // written under a lease that another node has since taken over
	KindLost       Kind = "lost"       // another copy of this node, or a cloud restored since, may have had it, and nothing shows it
	KindQuarantine Kind = "quarantine" // the cloud can never accept it as it is
)

// Begins returns a kind's initial state: decided if nobody has to act, because the cloud has had the write, the table's policy is that
// another write wins, or the new holder of its lease writes the same from its own source.
func (k Kind) Begins() State {
	switch k {
	case KindSuperseded, KindFencedOff:
		return StateDecided
	case KindRefused, KindUnknown, KindGone, KindQuarantine, KindLost:
	}
	return StateOpen
}

// asksTheApplication reports whether the table's merge handler is asked. It decides about writes that the cloud does not have. One that
// another copy of the node may have sent can be there, changed again since: writing it once more or dropping it are both a guess.
func (k Kind) asksTheApplication() bool { return k != KindQuarantine && k != KindLost }

// State is what became of a conflict.
type State string

// Values of State.
const (
	StateOpen      State = "open"
	StateRetried   State = "retried"   // written again, see NewSeqs
	StateDiscarded State = "discarded" // by an operator
	StateResolved  State = "resolved"  // by the application's merge handler
	StateDecided   State = "decided"   // by the policy: kept for reference, no action needed
	StateAny       State = "all"       // in a Query only
)

// States returns the states that a list can be filtered by.
func States() []string { return []string{"open", "retried", "discarded", "resolved", "decided", "all"} }

// isClosed reports whether nothing more can be done about the record.
func (s State) isClosed() bool {
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

// MergeCase is the input of a merge handler: the refused entries and three images of each item, without sidecars.
type MergeCase struct {
	Code    string
	Entries []*intent.Entry // refused, in order; must not be changed
	Tail    []*intent.Entry
	Items   []MergeItem // one per entry of Entries
	// Get reads another row as this node has it in the deciding transaction; nil: no row. Rows that the refused transaction had
	// conditions on are as the cloud has them.
	Get func(table string, key attr.Item) (attr.Item, error)
}

// MergeItem holds three images of an item; nil: no item. Base is what the entry was written on, View what readers saw here with it, both
// from before any write by others took the entry out of the view. Remote is the cloud's image with those of our writes that hold on it,
// including another merge's: a merge writes on top of it.
type MergeItem struct {
	Base, View, Remote attr.Item
}

// MergeFunc is an application's answer to conflicts on a table, instead of a person's. It must be pure: the same case yields the same
// writes, and it reads no clock and nothing but its case. Its writes are made like the application's, all or none, with their own
// conditions where needed; several are one transaction. ok == false means that it has no answer and a person is
// asked.
type MergeFunc func(MergeCase) (writes []store.WriteItem, ok bool)
