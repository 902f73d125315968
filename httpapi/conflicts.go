package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
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

func (s *Server) getConflicts(c *gin.Context) error {
	p := queryParser{values: c.Request.URL.Query()}
	ask := ConflictAsk{State: p.oneOf("state", ConflictStates()...), Table: p.text("table", 255), Limit: p.number("limit", maxLimit)}
	if ask.Limit == 0 {
		ask.Limit = usualLimit
	}
	if cursor := p.text("cursor", maxCursor); cursor != "" {
		var err error
		if ask.Before, err = strconv.ParseUint(cursor, 10, 64); err != nil || ask.Before == 0 {
			return badCursor()
		}
	}
	if len(p.details) > 0 {
		return &invalidError{p.details}
	}
	if s.cfg.Sync == nil {
		return writeJSON(c, newList[Conflict](nil, ""))
	}
	found, next, err := s.cfg.Sync.Conflicts(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	cursor := ""
	if next != 0 {
		cursor = strconv.FormatUint(next, 10)
	}
	return writeJSON(c, newList(found, cursor))
}

// conflictID is the one in the path.
func (s *Server) conflictID(c *gin.Context) (uint64, error) {
	if s.cfg.Sync == nil {
		return 0, noCloud()
	}
	id, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return 0, fault.New(fault.NotFound, "conflict_not_found", "There is no conflict of this number.")
	}
	return id, nil
}

func (s *Server) getConflict(c *gin.Context) error {
	id, err := s.conflictID(c)
	if err != nil {
		return err
	}
	found, err := s.cfg.Sync.Conflict(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(c, found)
}

func (s *Server) postConflictRetry(c *gin.Context) error { return s.decideConflict(c, "retry") }

func (s *Server) postConflictDiscard(c *gin.Context) error { return s.decideConflict(c, "discard") }

func (s *Server) decideConflict(c *gin.Context, verb string) error {
	id, err := s.conflictID(c)
	if err != nil {
		return err
	}
	done, err := s.cfg.Sync.Decide(c.Request.Context(), id, verb)
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusOK, done)
}
