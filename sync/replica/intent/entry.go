package intent

import (
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Entry is one local write on its way: what was written, how far it has come, and what recovery knows about it. Compile creates it,
// Encode stores it, and only Attempt, SettleAnswer, Follow and Rebase change it.
//
//	written    SET n = n + 1 on item a, on the life c1, with sequence 17
//	progress   sent once, no answer yet
//	recovery   nothing: neither the node nor the cloud was restored
type Entry struct {
	Write
	Progress
	Recovery

	step step // what Next does instead of sending; lost in a crash, which starts over
	met  met  // what the steps have found out
}

// Write is what was written. Only a fold or a new number (outbox.Work.Renumber) changes it.
type Write struct {
	Seq    uint64   // of its journal record: the second half of the write id
	Digits uint32   // nine random digits of its mark, so that two histories of one node never look alike
	Txn    uint64   // Seq of the first entry of its cloud transaction; 0: sent alone
	Group  uint64   // Seq of the first record of the store's Update that wrote it
	Folds  []uint64 // earlier entries coalesced into it; they settle with it
	Begun  uint64   // for a create with Folds, the first of them, which names the life; 0: its own Seq

	Table     string
	Policy    store.Policy
	Key       attr.Item
	Op        store.Op
	Item      attr.Item // of a Put, without sidecar; with ReplacesExpired the whole resulting item
	Update    string
	Condition string
	expr.Params
	Checks []Check // of the first entry of a transaction: its ConditionChecks

	At              time.Time // when it was written, by the clock of that time; for a coalesced entry, the first write
	Stamp           int64     // policy newest: hybrid time in microseconds since 1970; 0: none
	Provisional     bool      // the stamp is from a clock that no server had confirmed
	Lock            string    // the lock whose fence it carries, from the table's declaration; "": none
	Fence           int64     // of the item it wrote (_f)
	Life            Life      // the life it was journaled on
	Behind          uint64    // Seq of the pending create that begins its life; 0: none
	Read            bool      // its store transaction had read the item
	ReplacesExpired bool      // written on an item past its TTL: a Put with a new life that replaces the old one
}

// Progress is how far a write has come.
type Progress struct {
	Sent   int       // requests that left or may have left
	Unsure bool      // a request on its present life had no answer that says what became of it
	Since  time.Time // when the first such request left, by the server's clock; zero: unknown, but not before At
	Was    attr.Item // of an update sent on a foreign life or on none: by place (expr.Place), a list of the base's value there, empty for none; with ReplacesExpired the TTL attribute
	From   string    // of a create that replaced an update: the life the update was on

	Late    bool      // a copy of its create may still arrive: its sends set the hold on deletes
	Closed  bool      // its mark is closed: no late copy can apply
	Label   string    // the label it has set on the foreign life it deletes; "": none yet
	Moved   bool      // it was to create its item, and moved to a life that exists
	Dead    bool      // the tombstone of the life it deletes is written; for a moved entry, the row that records the move
	Proof   bool      // where the cloud has transactions, it has created nothing and creates nothing without its proof
	Refused int       // failed count guards
	Yields  time.Time // since when it lets another node's Put pass, by the server's clock; zero: it does not

	NotBefore time.Time // parked until then; zero: not parked
	Why       string    // why it is parked or held
	Held      Hold      // why only an operator can release it
}

// Check is a ConditionCheck of a transaction.
type Check struct {
	Table     string
	Key       attr.Item
	Condition string
	expr.Params
}

// Hold says why an entry waits for an operator.
type Hold uint8

// The holds.
const (
	HoldNone   Hold = iota
	HoldPoison      // quarantined: the cloud can never accept it
	HoldTail        // behind a quarantined entry
	HoldTable       // its table is missing or denied, or the cloud has no transactions
)

// Life identifies the life of an item that an entry was journaled on.
type Life struct {
	Kind LifeKind
	ID   string // LifeOurs: the value of _c, empty while its create is pending; LifeForeign: the label ("~..."), empty if none was seen
}

// LifeKind is the kind of a life.
type LifeKind uint8

// The kinds of lives.
const (
	LifeNone    LifeKind = iota // there was no item
	LifeForeign                 // an item that none of our nodes created
	LifeOurs                    // an item with _c
)
