package intent

import (
	"cmp"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Known is the last confirmed image of an item.
type Known struct {
	Item attr.Item // without sidecar; nil: there is none
	Side Sidecar
}

// Env is what the protocol needs to know of the node and of the world. Its functions are cheap and pure for the time of a
// call.
type Env struct {
	Node            string
	Now             time.Time     // corrected by the server's clock, as far as that is known
	Skew            time.Duration // what Now was corrected by: the server's clock minus ours
	Synced          bool          // a server has told its time since the node started
	SyncTable       string
	LockTable       string // of the leases; empty: there are none, and no fence is looked up
	Transactions    bool   // the cloud has them
	Lost            uint64 // what a lost timeline of this node had settled, of what waits here too
	Fork            uint64 // the last sequence that the lost timeline may have too; 0: nobody knows
	FirstRenumbered uint64 // the first of the sequences that were given anew since; 0: none
	// Twice reports whether an earlier history of this node may have given a waiting sequence to another write; nil: never.
	Twice func(seq uint64) bool
	// Never reports whether the entry that waits here under such a sequence was not, and will not be, sent under it by
	// any copy of this node; nil: never.
	Never     func(seq uint64) bool
	Replaying bool // the cloud was restored, and not all nodes have replayed: what is absent is not yet deleted

	Spec    func(table string) *store.TableSpec // nil: no such table any more
	Settled func(node string) uint64            // up to it everything of that node is settled, as it has told the cloud; 0: not known
	Past    func(node string) uint64            // Settled as it was known a signed request's lifetime ago; 0: not known
	// Events reports whether every entry of policy other than state that carries this lock and fence, written by the
	// store's Update group or an earlier one, is settled; conflict and quarantine count.
	Events func(lock string, fence int64, group uint64) bool
	// Kept reports whether a mark of ours on an item of a restored cloud is that of a write that was acknowledged
	// before the instant that the cloud was restored to: nothing that was written before it on that item was lost. nil:
	// of none.
	Kept func(table string, key attr.Item, mark attr.Value) bool
	// SendBy is until when a write may be sent for the first time; zero, and where it is nil: for ever.
	SendBy func(w *Write) time.Time

	Rand  func() uint64
	Exprs *expr.Cache // nil: nothing is kept

	Marks  int           // on an item, above which a send takes settled ones away; 0: ManyMarks
	Signed time.Duration // for how long a signed request can arrive, and a copy of it is waited for; 0: SignedFor
}

func (env *Env) signed() time.Duration { return cmp.Or(env.Signed, SignedFor) }

// Batch is what is sent together: one item's entry, or all entries of a cloud transaction in the order of their sequences.
type Batch struct {
	Entries []*Entry
}

// ActionKind is what is to be done with a batch.
type ActionKind uint8

// The kinds of actions.
const (
	ActSend   ActionKind = iota + 1 // Calls, as one transaction if Transact is set, else it is exactly one
	ActRead                         // read Reads, each consistently, one after the other
	ActPark                         // nothing until Until, or until what Why names has changed
	ActSettle                       // nothing is asked: Outcome says what became of the batch
)

// Action is the next step of a batch.
type Action struct {
	Kind     ActionKind
	Calls    []Call
	Transact bool // with a new token each time
	Attempt  bool // the effect of the entries is in it: Batch.Attempt, and the entries on disk, before the first byte is sent
	Reads    []Ref
	Until    time.Time // zero: until an operator, or what Why names
	Why      string
	Outcome  *Outcome // of ActSettle
	Noted    bool     // the entries have changed, as by how long they wait or that no proof goes with them, and are to be stored

	step   step
	unsure []bool    // of the entries, before Attempt
	at     time.Time // it was made, by the server's clock
}

// Ref names an item in the cloud.
type Ref struct {
	Table string
	Key   attr.Item
}

// Answer is what became of an action.
type Answer struct {
	Err   *Error      // nil: done
	Image attr.Item   // of a single call: what Cloud.Write gave
	Items []attr.Item // of reads, in their order; nil: no such item
}

// Result is what an answer means for the batch.
type Result uint8

// The results. Those up to OutConflict take the batch out of the outbox.
const (
	OutApplied    Result = iota + 1 // proved: entries to the replay log
	OutSuperseded                   // another write won, by policy: recorded as Code says, nothing is to be done
	OutConflict                     // recorded, with what it takes along (Tail), for the table's merge handler or a person
	OutQuarantine                   // stays, held, with everything behind it (Behind): alarm

	OutAgain     // ask Next at once
	OutParked    // until After from now: its item waits, its lane goes on
	OutThrottled // not applied: back off with full jitter, slow the table down
	OutUnknown   // nobody knows: back off with full jitter, then ask Next, which repeats the same
	OutOffline   // one probe, the others sleep
	OutRefresh   // clock or credentials: refresh, alarm, keep
	OutStopTable // the table Table, or one of several that nobody can name, is missing or denied: alarm, keep
	OutTimeline  // a copy or an older file of this node is writing: everything stops until identity is settled
	OutRenumber  // the entry, of a lost timeline, is sent under a new sequence and new digits: give it both and clear Lost
)

// Settled reports whether the batch leaves the outbox.
func (r Result) Settled() bool { return r == OutApplied || r == OutSuperseded || r == OutConflict }

// Outcome is what an answer means.
type Outcome struct {
	Result Result
	Known  []*Known    // by entry of the batch: the base that the answer showed; nil: it showed none
	Met    []attr.Item // by entry, of a decision: the item that the refusal showed, sidecar included; nil: none
	Code   Code        // of OutSuperseded, OutConflict, OutQuarantine
	Text   string      // one sentence for a person, without values of the item
	After  time.Duration
	Table  string // of OutStopTable; empty: nobody knows which
	Lock   string // of CodeDeposed: the lock whose fence was higher
	Fence  int64  // of CodeDeposed: the fence that was seen there
	Alarm  string // somebody should know; empty: nobody
}

// Code says why a batch was decided, in records: stable.
type Code string

// The codes.
const (
	CodeCondition   Code = "condition_failed" // the application's condition does not hold there
	CodeDeleted     Code = "deleted"          // the item was deleted meanwhile, by policy that wins or is a conflict
	CodeGone        Code = "gone"             // the same after an unanswered send: it may have applied before
	CodeUnknown     Code = "unknown"          // a foreign item has changed since an unanswered send
	CodeOverwritten Code = "overwritten"      // a foreign Put lies over an unanswered send
	CodeDeposed     Code = "deposed"          // the lock has a higher fence
	CodeLate        Code = "late"             // it was not sent in the time that its application gives it
	CodeOlder       Code = "older"            // of policy newest: a later write is there
	CodeTombstone   Code = "tombstone"        // it was created, and deleted by another node since
	CodeExpired     Code = "expired"          // what it would have made is past its TTL
	CodeUnfit       Code = "unfit"            // the operation cannot be applied to the item that is there
	CodeLost        Code = "lost_timeline"    // settled in a timeline of this node that is lost
	CodeRestored    Code = "restored_cloud"   // the restored cloud has something later, or had lost it before
	CodeHalf        Code = "half_there"       // the restored cloud has a part of the transaction
	CodeInvalid     Code = "invalid"          // the cloud can never take it
	CodeTooLarge    Code = "too_large"        // the item would pass the limit
)
