package intent

import (
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Entry is one local write on its way: what was written, how far that has come, and what recovery knows of it. What Compile makes
// is kept as it is (Encode), and changed by Attempt, Take, Follow and Rebase alone.
//
//	written    SET n = n + 1 on item a, on the life c1, with sequence 17
//	progress   sent once, no answer yet
//	recovery   nothing: the node's history and the cloud are what they were
type Entry struct {
	Write
	Progress
	Recovery

	step step // what Next does instead of sending: a crash begins anew
	met  met  // what the step is about
}

// Write is what was written. Nothing of it changes but by a fold, or under a new number (outbox.Work.Renumber).
type Write struct {
	Seq    uint64   // of its journal record: the second half of its write id
	Digits uint32   // nine random digits of its mark, so that two histories of one node never look alike
	Txn    uint64   // Seq of the first entry of its cloud transaction; 0: it is alone
	Group  uint64   // Seq of the first record of the store's Update that wrote it
	Folds  []uint64 // earlier entries that were coalesced into it: they are settled as it is
	Begun  uint64   // of a create with Folds the first of them, by which what it makes is known; 0: its own Seq

	Table     string
	Policy    store.Policy
	Key       attr.Item
	Op        store.Op
	Item      attr.Item // of a Put, without sidecar; of a Ghost the whole item as it shall be
	Update    string
	Condition string
	expr.Params
	Checks []Check // of the first entry of a transaction: its ConditionChecks

	At          time.Time // it was written, by the clock of that time; of a coalesced one the first
	Stamp       int64     // of policy newest: hybrid time in microseconds since 1970; 0: none
	Provisional bool      // the stamp is of a clock that no server had confirmed
	Lock        string    // whose fence it carries, of the table's declaration; empty: none
	Fence       int64     // of the item it wrote (_f)
	Life        Life      // on which it was journaled
	Behind      uint64    // Seq of the pending create that begins its life; 0: none
	Read        bool      // its store transaction had read the item
	Ghost       bool      // it was written on an item past its TTL: a Put with a new life, in the place of the old one
}

// Progress is how far a write has come.
type Progress struct {
	Sent   int       // requests that left or may have left
	Unsure bool      // one of them, on its present life, has had no answer that says what became of it
	Since  time.Time // the first of those left, by the server's clock; zero: nobody knows, but not before At
	Was    attr.Item // of an update on a foreign life, or on none, that was sent: by place (expr.Place), a list of what the base held there, empty for nothing; of a Ghost the TTL attribute
	From   string    // of the create that has taken the place of an update: the life it was on

	Late    bool      // a copy of its create may still arrive: its sends set the hold on deletes
	Closed  bool      // its mark is closed: no late copy can apply
	Label   string    // the label that it has set on the foreign life it deletes; empty: none yet
	Moved   bool      // it was to make its item, and has gone to a life that is there
	Dead    bool      // the tombstone of the life it deletes is written; of a moved one, the row that tells it
	Proof   bool      // where the cloud has transactions it has made nothing, and makes nothing, without its proof
	Refused int       // count guards that did not hold
	Yields  time.Time // it has let another node's Put pass since then, by the server's clock; zero: it has not

	NotBefore time.Time // parked until; zero: not parked
	Why       string    // why it is parked or held
	Held      Hold      // why only an operator lets it go on
}

// Check is a ConditionCheck of a transaction.
type Check struct {
	Table     string
	Key       attr.Item
	Condition string
	expr.Params
}

// Hold is why an entry waits for somebody.
type Hold uint8

// The holds.
const (
	HoldNone   Hold = iota
	HoldPoison      // the cloud can never take it: quarantined
	HoldTail        // it stands behind one that is
	HoldTable       // its table is missing, or denied, or the cloud has no transactions
)

// Life is which life of an item an entry was journaled on.
type Life struct {
	Kind LifeKind
	ID   string // of LifeOurs: the value of _c, empty while the create that it stands behind is pending; of LifeForeign: the label ("~..."), empty: none was seen
}

// LifeKind is the kind of a life.
type LifeKind uint8

// The kinds of lives.
const (
	LifeNone    LifeKind = iota // there was no item
	LifeForeign                 // an item that no node of ours has made
	LifeOurs                    // an item with _c
)
