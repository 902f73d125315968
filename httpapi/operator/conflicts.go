package operator

import (
	"encoding/json"
	"time"
)

// Conflict is the record of a decision about writes that the cloud did not take as the application meant them.
type Conflict struct {
	ID      uint64          `json:"id"`
	At      time.Time       `json:"at"`
	Kind    string          `json:"kind"`  // conflict, superseded, unknown, gone, deposed, lost or quarantine
	State   string          `json:"state"` // open, retried, discarded, resolved or decided
	Table   string          `json:"table"` // of the first of its writes
	Key     json.RawMessage `json:"key"`   // DynamoDB JSON
	WriteID string          `json:"writeId"`
	Policy  string          `json:"policy"`
	Code    string          `json:"code"`
	Text    string          `json:"text"`
	Writes  int             `json:"writes"` // decided together, the tail included

	ClosedAt time.Time `json:"closedAt,omitzero"`
	Note     string    `json:"note,omitempty"`
	NewSeqs  []uint64  `json:"newSeqs,omitempty"` // of the journal, of what was written anew

	// Of one that is asked for by its id.
	Decided []ConflictWrite `json:"decided,omitempty"`
	Tail    []ConflictWrite `json:"tail,omitempty"`
}

// ConflictWrite is one of the writes of a conflict. Items are DynamoDB JSON.
type ConflictWrite struct {
	WriteID   string          `json:"writeId"`
	Table     string          `json:"table"`
	Key       json.RawMessage `json:"key"`
	At        time.Time       `json:"at"`
	Op        string          `json:"op"` // put, update, delete or check
	Item      json.RawMessage `json:"item,omitempty"`
	Update    string          `json:"update,omitempty"`
	Condition string          `json:"condition,omitempty"`
	Names     json.RawMessage `json:"names,omitempty"`
	Values    json.RawMessage `json:"values,omitempty"`
	Sent      int             `json:"sent"` // how often
	Fence     int64           `json:"fence,omitempty"`
	Met       json.RawMessage `json:"met,omitempty"`  // the cloud's item as the refusal showed it
	Base      json.RawMessage `json:"base,omitempty"` // the cloud's item as it was known before
}

// ConflictAsk is which records are wanted.
type ConflictAsk struct {
	State  string // empty: the open ones; "all"
	Table  string // empty: any
	Before uint64 // older than this one; 0: from the newest on
	Limit  int
}

// ConflictStates are what a list can be asked for.
func ConflictStates() []string {
	return []string{"open", "retried", "discarded", "resolved", "decided", "all"}
}
