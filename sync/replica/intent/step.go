package intent

import "github.com/touchline/touchline/store/attr"

// step is what a batch does next, or the purpose of an action. It is kept in memory only: after a crash a batch starts with its
// operation again, and the answers lead it back here.
type step uint8

const (
	stepSend     step = iota // the operation
	stepLabel                // name a foreign life
	stepDead                 // write the tombstone of the life to be deleted
	stepLock                 // read the lock's fence before a first image, without transactions
	stepAlive                // an unanswered create: read its item and its tombstone
	stepProof                // an unanswered transaction that was canceled: read its proof
	stepImages               // an applied transaction: read its items
	stepValidate             // an invalid request: read the item, which may be the cause
	stepHold                 // keep the life that a create began from being deleted for now
	stepClose                // close the mark or the proof
	stepLost                 // an entry of a lost timeline: find out what became of it
	stepLeave                // close the mark of an entry of a lost timeline before renumbering it
	stepTurn                 // ask other nodes to let a Put pass
	stepReplay               // a create older than the instant the cloud was restored to: look for it
)

// met is what the steps have found out.
type met struct {
	ready    bool // stepAlive or stepLock is done for the next send
	noPrune  bool // send without removing marks: their guard may have refused the last send
	again    bool // an invalid request fitted the item that was there
	dead     int  // stepDead of a transaction: index of the entry
	turn     int  // stepTurn of a transaction: index of the entry
	decision decision
	on       Life      // the life on which the mark is closed
	image    attr.Item // the image that the decision is about
}

// decision is what becomes of a batch once its mark is closed.
type decision struct {
	result Result
	code   Code
	text   string
	fence  int64
}

func conflict(code Code, text string) decision {
	return decision{result: OutConflict, code: code, text: text}
}

func supersededAs(code Code, text string) decision {
	return decision{result: OutSuperseded, code: code, text: text}
}
