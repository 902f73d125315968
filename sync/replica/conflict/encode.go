package conflict

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/fault"
)

// stateLetters are the second byte of a record, so that listing need not decode the records it skips.
func stateLetters() map[State]byte {
	return map[State]byte{StateOpen: 'o', StateRetried: 'r', StateDiscarded: 'x', StateResolved: 'm', StateDecided: 'd'}
}

// Encode returns the stored form of a record. If it is too large it loses its images, the base first, and says so.
func Encode(c *Record) ([]byte, error) {
	raw, err := c.encode()
	if err != nil || len(raw) <= conflictMost {
		return raw, err
	}
	less := *c
	less.Decided = slices.Clone(c.Decided)
	for i := range less.Decided {
		less.Decided[i].Base = nil
	}
	less.Note = joinNotes(less.Note, "the base was too large to be kept")
	if raw, err = less.encode(); err != nil || len(raw) <= conflictMost {
		return raw, err
	}
	for i := range less.Decided {
		less.Decided[i].Met = nil
	}
	less.Note = joinNotes(less.Note, "so was the cloud's item")
	return less.encode()
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (c *Record) encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("conflict: %w", err)
	}
	return append([]byte{conflictVersion, stateLetters()[c.State]}, text...), nil
}

func decode(raw []byte) (*Record, error) {
	if len(raw) < 2 || raw[0] != conflictVersion {
		return nil, fault.New(fault.Damaged, "damaged", "a record of the conflict log has an unknown version")
	}
	c := &Record{}
	if err := json.Unmarshal(raw[2:], c); err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "damaged", "a record of the conflict log cannot be read")
	}
	if len(c.Decided) == 0 || slices.Contains(c.Entries(), nil) {
		return nil, fault.New(fault.Damaged, "damaged", "a record of the conflict log names no write")
	}
	return c, nil
}
