package conflict

import (
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// stored is a Record as stored in the log. Entries have their own, versioned encoding.
type stored struct {
	Head
	Decided []storedEntry `json:"decided"`
	Tail    []storedEntry `json:"tail,omitempty"`
}

type storedEntry struct {
	Entry []byte    `json:"entry"`
	Met   attr.Item `json:"met,omitempty"`
	Base  attr.Item `json:"base,omitempty"`
}

// stateLetters are the second byte of a record, so that listing need not decode the records it skips.
func stateLetters() map[State]byte {
	return map[State]byte{StateOpen: 'o', StateRetried: 'r', StateDiscarded: 'x', StateResolved: 'm', StateDecided: 'd'}
}

func recordState(raw []byte) State {
	if len(raw) < 2 {
		return ""
	}
	for state, letter := range stateLetters() {
		if raw[1] == letter {
			return state
		}
	}
	return ""
}

// Encode returns the stored form of a record. If it is too large it loses its images, the base first, and says so.
func Encode(c *Record) ([]byte, error) {
	st := stored{Head: c.Head}
	for i := range c.Decided {
		d := &c.Decided[i]
		st.Decided = append(st.Decided, storedEntry{Entry: d.Entry.Encode(), Met: d.Met, Base: d.Base})
	}
	for _, e := range c.Tail {
		st.Tail = append(st.Tail, storedEntry{Entry: e.Encode()})
	}
	raw, err := st.encode()
	if err != nil || len(raw) <= conflictMost {
		return raw, err
	}
	for i := range st.Decided {
		st.Decided[i].Base = nil
	}
	st.Note = joinNotes(st.Note, "the base was too large to be kept")
	if raw, err = st.encode(); err != nil || len(raw) <= conflictMost {
		return raw, err
	}
	for i := range st.Decided {
		st.Decided[i].Met = nil
	}
	st.Note = joinNotes(st.Note, "so was the cloud's item")
	return st.encode()
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (st *stored) encode() ([]byte, error) {
	text, err := json.Marshal(st)
	if err != nil {
		return nil, fmt.Errorf("conflict: %w", err)
	}
	return append([]byte{conflictVersion, stateLetters()[st.State]}, text...), nil
}

func decode(raw []byte) (*Record, error) {
	if len(raw) < 2 || raw[0] != conflictVersion {
		return nil, fault.New(fault.Damaged, "damaged", "a record of the conflict log has an unknown version")
	}
	var st stored
	if err := json.Unmarshal(raw[2:], &st); err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "damaged", "a record of the conflict log cannot be read")
	}
	c := &Record{Head: st.Head}
	for _, s := range st.Decided {
		e, err := intent.DecodeEntry(s.Entry)
		if err != nil {
			return nil, err
		}
		c.Decided = append(c.Decided, Decided{Entry: e, Met: s.Met, Base: s.Base})
	}
	for _, s := range st.Tail {
		e, err := intent.DecodeEntry(s.Entry)
		if err != nil {
			return nil, err
		}
		c.Tail = append(c.Tail, e)
	}
	if len(c.Decided) == 0 {
		return nil, fault.New(fault.Damaged, "damaged", "a record of the conflict log names no write")
	}
	return c, nil
}
