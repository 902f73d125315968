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
	Item attr.Item // without sidecar; nil: no item
	Side Sidecar
}

// Env is what the protocol needs to know about the node and the world. Its functions must be cheap, and pure during one call.
type Env struct {
	Node            string
	Now             time.Time     // corrected by the server's clock as far as that is known
	Skew            time.Duration // the correction in Now: the server's clock minus ours
	Synced          bool          // a server has shown its time since the node started
	SyncTable       string
	LockTable       string // of the leases; "": no leases, and fences are not looked up
	Transactions    bool   // whether the cloud has them
	Lost            uint64 // the sequence up to which a lost timeline of this node settled everything; at most the fork
	Fork            uint64 // the last sequence that the lost timeline may share; 0: unknown
	Parted          uint64 // the last one that it shares as far as the node's row shows; 0: unknown
	FirstRenumbered uint64 // the first sequence assigned anew since; 0: none
	// Twice reports whether an earlier history of this node may have given a waiting sequence to another write; nil: never.
	Twice func(seq uint64) bool
	// Never reports whether no copy of this node has sent, or will send, the waiting entry under its sequence; nil: it
	// never reports that.
	Never     func(seq uint64) bool
	Replaying bool // the cloud was restored and not all nodes have replayed: absent items are not yet deleted

	Spec    func(table string) *store.TableSpec // nil: no such table any more
	Settled func(node string, seq uint64) bool  // that node reported this write of its settled; false: or it is unknown
	Past    func(node string, seq uint64) bool  // Settled as known one lifetime of a signed request ago
	// Events reports whether every entry of policy other than state that carries this lock and fence, written by the
	// store's Update group or an earlier one, is settled; conflict and quarantine count.
	Events func(lock string, fence int64, group uint64) bool
	// Kept reports whether a mark of ours on an item of a restored cloud belongs to a write acknowledged before the instant
	// that the cloud was restored to. Then nothing written earlier on that item was lost. nil: no mark does.
	Kept func(table string, key attr.Item, mark attr.Value) bool
	// SendBy returns the deadline of a write's first send; zero, or a nil SendBy: no deadline.
	SendBy func(w *Write) time.Time

	Rand  func() uint64
	Exprs *expr.Cache // nil: no cache

	Marks  int           // with more marks on an item, a send removes settled ones; 0: ManyMarks
	Signed time.Duration // how long a signed request, or a copy of it, can arrive; 0: SignedFor
}

func (env *Env) signedFor() time.Duration { return cmp.Or(env.Signed, SignedFor) }

// Batch is what is sent together: one entry, or all entries of a cloud transaction in order of sequence.
type Batch struct {
	Entries []*Entry
}

// ActionKind says what to do with a batch.
type ActionKind uint8

// The kinds of actions.
const (
	ActSend   ActionKind = iota + 1 // send Calls, as a transaction if Transact is set; otherwise there is exactly one
	ActRead                         // read Reads consistently, one after the other
	ActPark                         // wait until Until, or until what Why names has changed
	ActSettle                       // no request: Outcome says what became of the batch
)

// Action is the next step of a batch.
type Action struct {
	Kind     ActionKind
	Calls    []Call
	Transact bool // with a new token each time
	Attempt  bool // it has the entries' effect: call Batch.Attempt and store the entries before the first byte is sent
	Reads    []Ref
	Until    time.Time // zero: until an operator or what Why names
	Why      string
	Outcome  *Outcome // of ActSettle
	Noted    bool     // the entries have changed, for example how long they wait, and must be stored

	step   step
	unsure []bool    // of the entries, before Attempt
	at     time.Time // when it was created, by the server's clock
}

// Ref names an item in the cloud.
type Ref struct {
	Table string
	Key   attr.Item
}

// Answer is the result of an action.
type Answer struct {
	Err   *Error      // nil: success
	Image attr.Item   // of a single call: what Cloud.Write returned
	Items []attr.Item // of reads, in order; nil: no such item
}

// Result says what an answer means for the batch.
type Result uint8

// The results. OutApplied to OutConflict remove the batch from the outbox.
const (
	OutApplied    Result = iota + 1 // proved: the entries go to the replay log
	OutSuperseded                   // another write won by policy: recorded under Code, nothing to do
	OutConflict                     // recorded with what it takes along (Tail), for the table's merge handler or a person
	OutQuarantine                   // stays, held, with everything behind it (QueuedBehind): alarm

	OutAgain     // call Next at once
	OutParked    // until After from now: its item waits, the worker goes on
	OutThrottled // not applied: back off with full jitter and slow the table down
	OutUnknown   // unknown: back off with full jitter, then call Next, which repeats the request
	OutOffline   // one probe; all other sends wait
	OutRefresh   // clock or credentials: refresh, alarm, keep
	OutStopTable // Table, or an unknown one of several, is missing or denied: alarm, keep
	OutTimeline  // a copy or an older file of this node is writing: stop everything until the identity is settled
	OutRenumber  // an entry of a lost timeline goes under a new sequence: assign it with new digits and clear Lost
)

// IsSettled reports whether the batch leaves the outbox.
func (r Result) IsSettled() bool { return r == OutApplied || r == OutSuperseded || r == OutConflict }

// Outcome is what an answer means.
type Outcome struct {
	Result Result
	Known  []*Known    // per entry, the base that the answer showed; nil: none shown
	Met    []attr.Item // per entry of a decision, the item that the refusal showed, including its sidecar; nil: none
	Code   Code        // of OutSuperseded, OutConflict, OutQuarantine
	Text   string      // one sentence for a person, without values of the item
	After  time.Duration
	Table  string // of OutStopTable; "": unknown
	Lock   string // of CodeFencedOff: the lock whose fence was higher
	Fence  int64  // of CodeFencedOff: the fence that was seen there
	Alarm  string // for an operator; "": none
}

// Code says in records why a batch was decided. Codes are stable.
type Code string

// The codes.
const (
	CodeCondition   Code = "condition_failed" // the application's condition failed in the cloud
	CodeDeleted     Code = "deleted"          // the item was deleted meanwhile, which wins or conflicts by policy
	CodeGone        Code = "gone"             // like deleted, but after an unanswered send that may have applied
	CodeUnknown     Code = "unknown"          // a foreign item has changed since an unanswered send
	CodeOverwritten Code = "overwritten"      // a foreign Put replaced the item after an unanswered send
	CodeFencedOff   Code = "deposed"          // the lock has a higher fence
	CodeLate        Code = "late"             // not sent by the application's deadline
	CodeOlder       Code = "older"            // policy newest: the cloud has a later write
	CodeTombstone   Code = "tombstone"        // created, and deleted by another node since
	CodeExpired     Code = "expired"          // its item would be past its TTL
	CodeUnfit       Code = "unfit"            // the operation cannot be applied to the current item
	CodeLost        Code = "lost_timeline"    // another copy of this node may have sent it
	CodeRestored    Code = "restored_cloud"   // the restored cloud has something later, or had lost it before
	CodeHalf        Code = "half_there"       // the restored cloud has part of the transaction
	CodeInvalid     Code = "invalid"          // the cloud can never accept it
	CodeTooLarge    Code = "too_large"        // the item would exceed the limit
)
