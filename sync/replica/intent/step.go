package intent

import "github.com/touchline/touchline/store/attr"

// step is what a batch does next, or what an action was for. It is in memory only: after a crash a batch begins with its
// operation again, and what it is told leads it here.
type step uint8

const (
	stepSend     step = iota // the operation
	stepLabel                // a foreign life gets a name
	stepDead                 // the tombstone of the life that is deleted
	stepLock                 // the lock's fence, read before a first image where there are no transactions
	stepAlive                // an unanswered create: is its item there, or its tombstone?
	stepProof                // an unanswered transaction that was canceled: is its proof there?
	stepImages               // an applied transaction: what have the items become?
	stepValidate             // a request that is not valid: does the item make it so?
	stepHold                 // the life that a create has begun is not to be deleted yet
	stepClose                // the mark, or the proof, is closed
	stepLost                 // an entry of a lost timeline: what has become of it?
	stepLeave                // the mark of an entry of a lost timeline is closed before it gets another
	stepTurn                 // the others are asked to let a Put pass
	stepReplay               // a create from before the instant that the cloud was restored to: is it there?
)

// met is what the steps have found out.
type met struct {
	ready    bool // stepAlive or stepLock has been gone through, for the next send
	noPrune  bool // marks were in the way of being taken away
	again    bool // a request that is not valid fitted the item that was there
	dead     int  // stepDead of a transaction: of which entry
	turn     int  // stepTurn of a transaction: of which entry
	decision decision
	on       Life      // where the mark is closed
	image    attr.Item // that the decision met
}

// decision is what becomes of a batch as soon as its mark is closed.
type decision struct {
	result Result
	code   Code
	text   string
	fence  int64
}

func conflict(code Code, text string) decision {
	return decision{result: OutConflict, code: code, text: text}
}

func superseded(code Code, text string) decision {
	return decision{result: OutSuperseded, code: code, text: text}
}
