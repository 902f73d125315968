package intent

import (
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Entry is one local write on its way: the operation it was, and how far it has come.
type Entry struct {
	Seq    uint64 // of its journal record: the second half of its write id
	Digits uint32 // nine random digits of its mark, so that two histories of one node never look alike
	Txn    uint64 // Seq of the first action of its transaction; 0: it is alone

	Table     string
	Policy    store.Policy
	Key       attr.Item
	Op        store.Op // 0: a ConditionCheck of its transaction
	Item      attr.Item
	Update    string
	Condition string
	expr.Params

	At     time.Time // it was written
	Lock   string    // whose fence it carries, of the table's declaration; empty: none
	Fence  int64     // of the item it wrote (_f)
	Life   Life      // on which it was journaled
	Behind uint64    // Seq of the pending create that begins its life; 0: none
	Read   bool      // its store transaction had read the item
	Was    attr.Item // what its paths held in the base, for a foreign life: see section 2 of the protocol

	Sent      int       // requests that left or may have left
	Unsure    bool      // one of them has had no answer that says what became of it
	Closed    bool      // its mark is closed: no late copy can apply
	Label     bool      // the foreign life that it deletes has our label
	Refused   int       // count guards that did not hold
	NotBefore time.Time // parked until; zero: not parked
	Why       string    // why it is parked
	Held      Hold      // why only an operator lets it go on
}

// Hold is why an entry waits for somebody.
type Hold uint8

// The holds.
const (
	HoldNone   Hold = iota
	HoldPoison      // the cloud can never take it: quarantined
	HoldTail        // it stands behind one that is
	HoldTable       // its table is missing, or denied
)

// Life is which life of an item an entry was journaled on.
type Life struct {
	Kind LifeKind
	ID   string // of LifeOurs: the value of _c; of LifeForeign: the label that was seen or set ("~...")
}

// LifeKind tells lives apart.
type LifeKind uint8

// The kinds of lives.
const (
	LifeNone    LifeKind = iota // there was no item
	LifeForeign                 // an item that no node of ours has made
	LifeOurs                    // an item with _c
)
